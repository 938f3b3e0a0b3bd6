import { formatDuration } from '../../text/format-duration.js';
import { calledOffAt } from '../evidence/called-off.js';
import { type Delivery, deliveriesOf, pausesIn } from '../evidence/deliveries.js';
import type { Evidence } from '../evidence/evidence.js';
import { endedAt, isFailedForNow } from '../evidence/leg.js';
import { watchedSince } from '../evidence/windows.js';
import { doubtful, held, type Observation, unseen } from '../observation.js';
import type { Rule } from '../rule.js';

/** Several tries within less time than this for each are made without a pause. In ms. */
const HASTE_MS = 20;

/** TOOL-RETRY: what was answered 5xx or lost comes again, and not at once each time. */
export const retries: Rule = {
  id: 'TOOL-RETRY',
  absent: 'no callback was answered 5xx or lost',
  observe: evidence =>
    evidence.calls.flatMap(call => {
      const end = calledOffAt(call);
      return deliveriesOf(call)
        .filter(([first]) => isFailedForNow(first) && first.request.seq < end)
        .map(delivery => onDelivery(delivery, evidence));
    }),
};

function onDelivery(delivery: Delivery, evidence: Evidence): Observation {
  const pauses = pausesIn(delivery);
  if (pauses.length === 0) return onNoRetry(delivery, evidence);
  const what = `sent again after ${pauses.map(formatDuration).join(', ')}`;
  const isHasty = pauses.length > 1 && pauses.every(pause => pause < HASTE_MS);
  return isHasty ? doubtful(`${what}: without growing pauses`, delivery) : held(delivery, what);
}

function onNoRetry(delivery: Delivery, evidence: Evidence): Observation {
  const [failed] = delivery;
  const watched = watchedSince(endedAt(failed) ?? failed.request.at, evidence);
  return unseen(`no retry was seen within ${formatDuration(watched)}`, delivery);
}
