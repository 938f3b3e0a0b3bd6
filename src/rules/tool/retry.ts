import { formatDuration } from '../../text/format-duration.js';
import { calledOffAt } from '../evidence/called-off.js';
import { type Delivery, deliveriesOf, pausesIn } from '../evidence/deliveries.js';
import type { CallbackEvidence, CallEvidence } from '../evidence/evidence.js';
import { endedAt, isFailedForNow } from '../evidence/leg.js';
import { shortestWatch, vainWait } from '../evidence/windows.js';
import { doubtful, held, heldBut, lacking, type Observation, unseen } from '../observation.js';
import type { Rule } from '../rule.js';
import { onDeath } from './shared/death.js';

/** Pauses that are no pauses, in ms. One that is drawn at random may well be short (full jitter). */
const HASTE_MS = 5;

/** TOOL-RETRY: what was answered 5xx or lost comes again, and not at once each time. */
export const retries: Rule = {
  id: 'TOOL-RETRY',
  failsWhere: 'the tool dies of it',
  absent: 'no callback was answered 5xx or lost',
  observe: evidence => {
    const end = onDeath(evidence, 'callback', 'a callback of it was lost or refused');
    if (end) return [end];
    const failed = evidence.calls
      .filter(({ isCutShort }) => !isCutShort)
      .flatMap(call =>
        failedDeliveries(call).map(delivery => ({ delivery, isWaited: vainWait(call) !== undefined })),
      );
    const alone = failed.flatMap(({ delivery }) => (delivery.length === 1 ? [momentOf(delivery[0])] : []));
    const watched = shortestWatch(alone, evidence);
    return failed.map(({ delivery, isWaited }) => onDelivery(delivery, watched, isWaited));
  },
};

/** Who has looked out for less, and not on purpose, has hardly seen that nothing comes. In ms. */
const LEAST_MS = 1_000;

/** What nobody waits for any more need not come again. */
function failedDeliveries(call: CallEvidence): readonly Delivery[] {
  const end = calledOffAt(call);
  return deliveriesOf(call).filter(([first]) => isFailedForNow(first) && first.request.seq < end);
}

function momentOf(callback: CallbackEvidence): number {
  return endedAt(callback) ?? callback.request.at;
}

function onDelivery(delivery: Delivery, watched: number, isWaited: boolean): Observation {
  const pauses = pausesIn(delivery);
  if (pauses.length === 0) {
    const tell = isWaited || watched >= LEAST_MS ? lacking : unseen;
    return tell(`no retry within ${formatDuration(watched)}; --probe-timeout waits longer`, delivery);
  }
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
