import type { Errand } from '../../exchange/errands.js';
import type { Event } from '../../exchange/events.js';
import type { Arrival } from '../../exchange/exchange.js';
import type { History } from '../../exchange/history.js';
import type { View } from '../../exchange/thread.js';
import type { HeardCallback } from '../../story/heard-lines.js';

/** Something that came to the listener and was answered: a callback, or a post that is nobody's. */
export type Heard =
  | ({ readonly kind: 'callback'; readonly view: View | null } & HeardCallback)
  | { readonly kind: 'stray'; readonly errand: Errand };

/** What an event says has been heard; null where it is about something else. */
export function heardIn(history: History, expected: ReadonlySet<string>, event: Event): Heard | null {
  if (event.kind !== 'response') return null;
  const [key = ''] = event.calls ?? [];
  const exchange = history.exchanges.get(key);
  const arrival = exchange?.arrivals.findLast(({ leg }) => leg === event.leg);
  if (exchange && arrival) {
    const isExpected = expected.has(key) && !isStranger(arrival);
    return { kind: 'callback', exchange, arrival, isExpected, view: viewOf(history, arrival) };
  }
  const errand = history.errands.get(event.leg);
  return errand?.purpose === 'callback' ? { kind: 'stray', errand } : null;
}

/** The view that was updated, as it is now; null where it was cleared, or is none. */
function viewOf({ threads }: History, { message, verdict }: Arrival): View | null {
  if (message?.type !== 'view_update' || verdict.kind !== 'noted') return null;
  return threads.get(message.group_id)?.views.get(message.view_type) ?? null;
}

/** Compared with what is expected, and found to be something else. */
function isStranger({ verdict: { kind } }: Arrival): boolean {
  return kind === 'discarded' || kind === 'rejected';
}
