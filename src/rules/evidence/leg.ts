import type { Event, RequestEvent, ResponseEvent } from '../../exchange/events.js';

/** A request and what became of it: an answer, a break, or neither so far. */
export interface Leg {
  readonly request: RequestEvent;
  readonly response: ResponseEvent | null;
  readonly broken: Extract<Event, { kind: 'broken' }> | null;
}

/** Null where it was not answered. */
export function statusOf({ response }: Leg): number | null {
  return response?.status ?? null;
}

/** When it was answered or broke, in ms since the start; null where it is still on its way. */
export function endedAt({ response, broken }: Leg): number | null {
  return response?.at ?? broken?.at ?? null;
}

/** Until it was answered, or given up, in ms; endless while it is on its way. */
export function waitedFor(leg: Leg): number {
  return (endedAt(leg) ?? Number.POSITIVE_INFINITY) - leg.request.at;
}

/** Answered as something that may be tried again, or lost on the wire. */
export function isFailedForNow(leg: Leg): boolean {
  return leg.broken !== null || (statusOf(leg) ?? 0) >= 500;
}

/** Answered with a refusal for good. */
export function isRefused(leg: Leg): boolean {
  const status = statusOf(leg) ?? 0;
  return status >= 400 && status < 500;
}

/** Of requests in their order, the index of the first one after an event, by its `seq`; their number where there is none. */
export function indexAfter(seq: number, requests: readonly { readonly request: RequestEvent }[]): number {
  let [from, to] = [0, requests.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((requests[middle]?.request.seq ?? 0) > seq) to = middle;
    else from = middle + 1;
  }
  return from;
}

/** The events of a leg, by their place. */
export function eventsOf({ request, response, broken }: Leg): number[] {
  return [request, response, broken].flatMap(event => (event ? [event.seq] : []));
}
