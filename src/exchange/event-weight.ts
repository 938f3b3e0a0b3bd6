import { Content } from './content.js';
import type { Event } from './events.js';

/** Bytes of bodies and texts: what can be large, and comes from outside. */
export function weightOf(event: Event): number {
  if (event.kind !== 'request' && event.kind !== 'response') return lengthOf(event);
  const { body, headers, calls, thread } = event;
  let weight = (body?.size ?? 0) + (event.kind === 'request' ? event.url.length : 0);
  weight += (calls ? lengthOf(calls) : 0) + (thread?.length ?? 0);
  for (const name in headers) weight += name.length + (headers[name]?.length ?? 0);
  return weight;
}

/** Of all texts inside, of which most are short. */
function lengthOf(holder: object): number {
  let length = 0;
  for (const value of Object.values(holder)) {
    if (typeof value === 'string') length += value.length;
    else if (typeof value === 'object' && value !== null) length += lengthOf(value);
  }
  return length;
}

/** With a body of its own: what is read of it does not stay with the bytes, which are remembered. */
export function unread(event: Event): Event {
  return 'body' in event && event.body ? { ...event, body: new Content(event.body.bytes) } : event;
}
