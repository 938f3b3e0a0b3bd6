import type { Rule } from '../rule.js';
import { acknowledgesAtOnce } from './ack.js';
import { dropsNothing } from './always.js';
import { answersByCallback } from './async.js';
import { refusesBadArguments } from './bad-args.js';
import { keepsCallId } from './call-id.js';
import { takesCancels } from './cancel.js';
import { offersChoices } from './choice.js';
import { takesCloses } from './close.js';
import { givesUnifiedDiffs } from './diff.js';
import { servesToolset } from './discover.js';
import { prefixesErrors } from './error-prefix.js';
import { ignoresExtraFields } from './extra.js';
import { endsWithText } from './fallback.js';
import { keepsThread } from './group.js';
import { keepsId } from './id.js';
import { describesImages } from './image.js';
import { keepsCallsApart } from './isolate.js';
import { survivesMalformedPayloads } from './malformed.js';
import { migrates } from './migrate.js';
import { namesToolsWell } from './names.js';
import { hidesItsInsides } from './no-leak.js';
import { takesNoForAnAnswer } from './no-retry.js';
import { asksForConsent } from './oauth.js';
import { endsOnce } from './once.js';
import { usesUrlAsGiven } from './opaque.js';
import { postsJson } from './post.js';
import { retries } from './retry.js';
import { tellsNoSecret } from './secret.js';
import { keepsSubscriptions } from './subscription.js';
import { refusesUnknownOperations } from './unknown-op.js';
import { executesOnlyValidCalls } from './validate.js';

/** What a tool must hold, in the order of the protocol. A new rule is one file and one line here. */
export const TOOL_RULES: readonly Rule[] = [
  acknowledgesAtOnce,
  answersByCallback,
  dropsNothing,
  postsJson,
  keepsThread,
  keepsId,
  keepsCallId,
  endsOnce,
  keepsCallsApart,
  usesUrlAsGiven,
  executesOnlyValidCalls,
  refusesUnknownOperations,
  refusesBadArguments,
  survivesMalformedPayloads,
  ignoresExtraFields,
  prefixesErrors,
  tellsNoSecret,
  hidesItsInsides,
  retries,
  takesNoForAnAnswer,
  endsWithText,
  givesUnifiedDiffs,
  describesImages,
  keepsSubscriptions,
  offersChoices,
  asksForConsent,
  takesCancels,
  takesCloses,
  servesToolset,
  namesToolsWell,
  migrates,
];
