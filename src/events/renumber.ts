import type { Event } from './events.js';

/** Numbers the events of several recordings consecutively, and makes their legs unique, so that they can form one list. */
export function renumbered(recordings: readonly (readonly Event[])[]): readonly (readonly Event[])[] {
  let next = 0;
  return recordings.map((events, index) => {
    const first = next - (events[0]?.seq ?? 0);
    const moved = events.map(event => movedTo(event, event.seq + first, index));
    next = (moved.at(-1)?.seq ?? next - 1) + 1;
    return moved;
  });
}

/** The first recording keeps its names. */
function movedTo(event: Event, seq: number, index: number): Event {
  if (index === 0) return { ...event, seq };
  const named = (name: string) => `${index + 1}/${name}`;
  const moved = { ...event, seq, ...(event.calls && { calls: event.calls.map(named) }) };
  if (moved.kind === 'decided' && moved.question !== undefined)
    return { ...moved, question: named(moved.question) };
  return 'leg' in moved && moved.leg !== undefined ? { ...moved, leg: named(moved.leg) } : moved;
}
