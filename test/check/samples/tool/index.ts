import type { SampleSet } from '../sample.js';
import { ackSamples } from './ack.js';
import { alwaysSamples } from './always.js';
import { asyncSamples } from './async.js';
import { callIdSamples } from './call-id.js';
import { choiceSamples } from './choice.js';
import { diffSamples, fallbackSamples, imageSamples } from './display.js';
import { errorPrefixSamples } from './error-prefix.js';
import { extraSamples } from './extra.js';
import { groupSamples } from './group.js';
import { idSamples } from './id.js';
import { isolateSamples } from './isolate.js';
import { malformedSamples } from './malformed.js';
import { noLeakSamples } from './no-leak.js';
import { noRetrySamples } from './no-retry.js';
import { cancelSamples, closeSamples } from './notices.js';
import { oauthSamples } from './oauth.js';
import { onceSamples } from './once.js';
import { opaqueSamples } from './opaque.js';
import { postSamples } from './post.js';
import { badArgsSamples, unknownOpSamples } from './refusals.js';
import { retrySamples } from './retry.js';
import { secretSamples } from './secret.js';
import { subscriptionSamples } from './subscription.js';
import { discoverSamples, migrateSamples, namesSamples } from './toolset.js';
import { validateSamples } from './validate.js';

export const TOOL_SAMPLES: SampleSet = {
  'TOOL-ACK': ackSamples,
  'TOOL-ASYNC': asyncSamples,
  'TOOL-ALWAYS': alwaysSamples,
  'TOOL-POST': postSamples,
  'TOOL-GROUP': groupSamples,
  'TOOL-ID': idSamples,
  'TOOL-CALLID': callIdSamples,
  'TOOL-ONCE': onceSamples,
  'TOOL-ISOLATE': isolateSamples,
  'TOOL-OPAQUE': opaqueSamples,
  'TOOL-VALIDATE': validateSamples,
  'TOOL-UNKNOWN-OP': unknownOpSamples,
  'TOOL-BAD-ARGS': badArgsSamples,
  'TOOL-MALFORMED': malformedSamples,
  'TOOL-EXTRA': extraSamples,
  'TOOL-ERRPREFIX': errorPrefixSamples,
  'TOOL-SECRET': secretSamples,
  'TOOL-NOLEAK': noLeakSamples,
  'TOOL-RETRY': retrySamples,
  'TOOL-NORETRY': noRetrySamples,
  'TOOL-FALLBACK': fallbackSamples,
  'TOOL-DIFF': diffSamples,
  'TOOL-IMAGE': imageSamples,
  'TOOL-SUB': subscriptionSamples,
  'TOOL-CHOICE': choiceSamples,
  'TOOL-OAUTH': oauthSamples,
  'TOOL-CANCEL': cancelSamples,
  'TOOL-CLOSE': closeSamples,
  'TOOL-DISCOVER': discoverSamples,
  'TOOL-NAMES': namesSamples,
  'TOOL-MIGRATE': migrateSamples,
};
