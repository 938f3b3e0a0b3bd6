import { formatDuration } from '../../text/format-duration.js';
import { calledOffAt } from '../evidence/called-off.js';
import { type Delivery, deliveriesOf, pausesIn } from '../evidence/deliveries.js';
import type { CallbackEvidence, CallEvidence } from '../evidence/evidence.js';
import { endedAt, isFailedForNow } from '../evidence/leg.js';
import { shortestWatch } from '../evidence/windows.js';
import { doubtful, held, heldBut, type Observation, unseen } from '../observation.js';
import type { Rule } from '../rule.js';

/** Pauses that are no pauses, in ms. One that is drawn at random may well be short (full jitter). */
const HASTE_MS = 5;

/** TOOL-RETRY: what was answered 5xx or lost comes again, and not at once each time. */
export const retries: Rule = {
  id: 'TOOL-RETRY',
  absent: 'no callback was answered 5xx or lost',
  observe: evidence => {
    const failed = evidence.calls.flatMap(failedDeliveries);
    const alone = failed.filter(({ length }) => length === 1).map(([first]) => momentOf(first));
    const window = formatDuration(shortestWatch(alone, evidence));
    return failed.map(delivery => onDelivery(delivery, window));
  },
};

/** What nobody waits for any more need not come again. */
function failedDeliveries(call: CallEvidence): readonly Delivery[] {
  const end = calledOffAt(call);
  return deliveriesOf(call).filter(([first]) => isFailedForNow(first) && first.request.seq < end);
}

function momentOf(callback: CallbackEvidence): number {
  return endedAt(callback) ?? callback.request.at;
}

function onDelivery(delivery: Delivery, window: string): Observation {
  const pauses = pausesIn(delivery);
  if (pauses.length === 0)
    return unseen(`no retry was seen within ${window}; check --probe-timeout waits longer`, delivery);
  const what = `sent again after ${pauses.map(formatDuration).join(', ')}`;
  if (isHasty(pauses) || (pauses.length >= ENOUGH && !isGrowing(pauses)))
    return doubtful(`${what}: without growing pauses`, delivery);
  const isOdd = pauses.length > 1 && !isGrowing(pauses);
  return isOdd
    ? heldBut(`${what}: no longer each time, which may be chance`, delivery)
    : held(delivery, what);
}

/** Pauses that are drawn at random may shrink once (full jitter); hardly time and again. */
const ENOUGH = 3;
/** What is longer by less is the same pause. */
const GROWTH = 1.25;

function isGrowing([first = 0, ...others]: readonly number[]): boolean {
  return others.some(pause => pause > first * GROWTH);
}

function isHasty(pauses: readonly number[]): boolean {
  return pauses.length > 1 && pauses.every(pause => pause < HASTE_MS);
}
