import { isSame } from '../../exchange/callback-delivery.js';
import type { CallbackEvidence, CallEvidence, Evidence } from '../evidence/evidence.js';
import { isFailedForNow } from '../evidence/leg.js';
import { held, type Observation, unseen } from '../observation.js';
import type { Rule } from '../rule.js';

/** TOOL-RETRY: what was answered 5xx or lost comes again. */
export const retries: Rule = {
  id: 'TOOL-RETRY',
  absent: 'no callback was answered 5xx or lost',
  observe: ({ calls }: Evidence) =>
    calls.flatMap(call => call.callbacks.filter(isFailedForNow).map(failed => onFailed(failed, call))),
};

function onFailed(failed: CallbackEvidence, { callbacks }: CallEvidence): Observation {
  const again = callbacks.find(later => isLater(later, failed) && isAgain(later, failed));
  return again ? held([failed, again]) : unseen('no retry was seen', [failed]);
}

function isLater(one: CallbackEvidence, other: CallbackEvidence): boolean {
  return one.request.seq > other.request.seq;
}

function isAgain(one: CallbackEvidence, other: CallbackEvidence): boolean {
  return isSame(one.request.body ?? null, other.request.body ?? null);
}
