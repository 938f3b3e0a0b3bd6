import { formatDuration } from '../../text/format-duration.js';
import type { CallEvidence, Evidence } from '../evidence/evidence.js';
import { endedAt, isFailedForNow, type Leg } from '../evidence/leg.js';
import { doubtful, held, lacking, type Observation, unseen } from '../observation.js';
import type { Rule } from '../rule.js';

/** Pauses that are no pauses, in ms. */
const AT_ONCE_MS = 5;
/** Who has looked out for less has hardly seen that nothing comes, in ms. */
const LEAST_MS = 2_000;

/** RT-RETRY: an invocation that was answered 5xx or lost is sent again, after a pause. */
export const retriesDispatch: Rule = {
  id: 'RT-RETRY',
  absent: 'no invocation was answered 5xx or lost',
  observe: ({ calls, until }: Evidence) => calls.flatMap(call => onCall(call, until)),
};

function onCall({ attempts, callbacks, decisions }: CallEvidence, until: number): Observation[] {
  const failed = attempts.find(isFailedForNow);
  if (!failed || callbacks.length > 0) return []; // who has called back has the invocation
  if (attempts.length > 1) return [onRetries(attempts)];
  if (decisions.some(({ what }) => what === 'give-up'))
    return [lacking('given up without a retry', [failed])];
  const watched = until - (endedAt(failed) ?? until);
  const tell = watched >= LEAST_MS ? lacking : unseen;
  return [tell(`no retry within ${formatDuration(watched)}`, [failed])];
}

function onRetries(attempts: readonly Leg[]): Observation {
  const pauses = attempts.slice(1).map((next, at) => next.request.at - (endedAt(attempts[at] ?? next) ?? 0));
  const paced = `after ${pauses.map(pause => formatDuration(pause)).join(', ')}`;
  const isHammering = pauses.length > 1 && pauses.every(pause => pause < AT_ONCE_MS);
  return isHammering
    ? doubtful(`retried without a pause: ${paced}`, attempts)
    : held(attempts, `retried ${paced}`);
}
