import type { SessionEvent } from '../../../protocol/session/changes.js';
import type { Session } from './session.js';

/** What clients may put into one session: each event is kept as long as the platform runs. */
const MOST = { events: 10_000, bytes: 16 * 1024 * 1024 };

type Spent = Pick<Session, 'events' | 'eventBytes'>;

/** Bytes of an event, as it is sent. */
export function bytesOf(data: SessionEvent['data']): number {
  return Buffer.byteLength(JSON.stringify(data));
}

/** Whether a client may add so much. What the agent does by its script is bounded by that, and always has room. */
export function hasRoom(
  { events, eventBytes }: Spent,
  more: { readonly events: number; readonly bytes: number },
): boolean {
  return events.length + more.events <= MOST.events && eventBytes + more.bytes <= MOST.bytes;
}
