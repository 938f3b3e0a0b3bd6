import type { Event } from '../../exchange/events.js';
import type { Leg } from './leg.js';

/** Every request with what became of it, in the order in which they were made. */
export function legsOf(events: readonly Event[]): readonly Leg[] {
  const ends = endsOf(events);
  return events.flatMap(event => {
    if (event.kind !== 'request') return [];
    const end = ends.get(event.leg);
    return [
      {
        request: event,
        response: end?.kind === 'response' ? end : null,
        broken: end?.kind === 'broken' ? end : null,
      },
    ];
  });
}

function endsOf(events: readonly Event[]) {
  const ends = new Map<string, Extract<Event, { kind: 'response' | 'broken' }>>();
  for (const event of events)
    if (event.kind === 'response' || event.kind === 'broken') ends.set(event.leg, event);
  return ends;
}
