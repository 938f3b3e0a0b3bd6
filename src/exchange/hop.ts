import type { Event, RequestEvent } from './events.js';

/** A side of a recorder. */
export type Hop = NonNullable<RequestEvent['hop']>;

/** Of a recording, which tells each message twice, what happened on one side; all of what happened between the two themselves. */
export function seenOn(hop: Hop, events: readonly Event[]): readonly Event[] {
  const elsewhere = new Set(events.flatMap(event => (isElsewhere(hop, event) ? [event.leg] : [])));
  if (elsewhere.size === 0) return events;
  return events.filter(event => !('leg' in event && event.leg !== undefined && elsewhere.has(event.leg)));
}

function isElsewhere(hop: Hop, event: Event): event is RequestEvent {
  return event.kind === 'request' && event.hop !== undefined && event.hop !== hop;
}

/** What happened, each message once: a recording as its tool had it, and anything else as it is. */
export function toldOnce(events: readonly Event[]): readonly Event[] {
  return seenOn('tool-side', events);
}
