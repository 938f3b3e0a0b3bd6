import type { Event } from '../../src/events/events.js';

/** All that events say, their bodies too: a `Content` shows nothing of its bytes on its own. */
export function textOfEvents(events: readonly Event[]): string {
  return events.map(textOfEvent).join('\n');
}

export function textOfEvent(event: Event): string {
  const body = 'body' in event && event.body ? Buffer.from(event.body.bytes).toString() : '';
  return JSON.stringify(event) + body;
}
