import type { Probe } from '../probe.js';
import { brokenArguments } from './broken-arguments.js';
import { callId } from './call-id.js';
import { callbackUrls } from './callback-urls.js';
import { cancel } from './cancel.js';
import { close } from './close.js';
import { concurrent } from './concurrent.js';
import { extraFields } from './extra-fields.js';
import { listenerFails } from './listener-fails.js';
import { listenerHangs } from './listener-hangs.js';
import { listenerRefuses } from './listener-refuses.js';
import { listenerResets } from './listener-resets.js';
import { listenerSlow } from './listener-slow.js';
import { malformed } from './malformed.js';
import { migrate } from './migrate.js';
import { oddIds } from './odd-ids.js';
import { unknownOperation } from './unknown-operation.js';
import { validCall } from './valid-call.js';

/** What a check tries, what waits longest first. A new probe is one file and one line here. */
export const PROBES: readonly Probe[] = [
  validCall,
  listenerHangs,
  listenerRefuses,
  listenerSlow,
  listenerFails,
  listenerResets,
  unknownOperation,
  brokenArguments,
  callId,
  oddIds,
  callbackUrls,
  extraFields,
  concurrent,
  cancel,
  close,
  migrate,
  malformed,
];
