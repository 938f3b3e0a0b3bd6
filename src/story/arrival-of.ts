import type { Event } from '../exchange/events.js';
import type { Arrival, Exchange } from '../exchange/exchange.js';
import type { History } from '../exchange/history.js';

/** The callback that a request, or the answer to it, is about; null where it is about none that reached a call. */
export function arrivalOf(
  { exchanges }: History,
  event: Event,
): { readonly exchange: Exchange; readonly arrival: Arrival } | null {
  if (event.kind !== 'request' && event.kind !== 'response') return null;
  const exchange = exchanges.get(event.calls?.[0] ?? '');
  const arrival = exchange?.arrivals.findLast(({ leg }) => leg === event.leg);
  return exchange && arrival ? { exchange, arrival } : null;
}

/** The callback that an event has just brought. */
export function newArrivalOf(history: History, event: Event): Arrival | null {
  return event.kind === 'request' ? (arrivalOf(history, event)?.arrival ?? null) : null;
}
