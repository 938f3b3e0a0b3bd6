import type { Evidence } from './evidence.js';
import { eventsOf, isFailedForNow, isRefused } from './leg.js';

/** The events of callbacks that a probe did not take, mostly on purpose: what else is wrong with one is better seen on another. */
export function turnedAway({ calls }: Pick<Evidence, 'calls'>): ReadonlySet<number> {
  const probed = calls.filter(({ plans }) => plans.some(({ by }) => by === 'probe'));
  const legs = probed.flatMap(({ callbacks }) =>
    callbacks.filter(leg => isFailedForNow(leg) || isRefused(leg)),
  );
  return new Set(legs.flatMap(eventsOf));
}
