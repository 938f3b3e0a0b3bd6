import type { Event } from './events.js';

/** Recordings whose events can stand in one list: numbered on from one to the next, and no leg of one is a leg of another. */
export function renumbered(recordings: readonly (readonly Event[])[]): readonly (readonly Event[])[] {
  let next = 0;
  return recordings.map((events, index) => {
    const first = next - (events[0]?.seq ?? 0);
    const moved = events.map(event => movedTo(event, event.seq + first, index));
    next = (moved.at(-1)?.seq ?? next - 1) + 1;
    return moved;
  });
}

/** What comes first keeps its names. */
function movedTo(event: Event, seq: number, index: number): Event {
  if (index === 0) return { ...event, seq };
  const named = (leg: string) => `${index + 1}/${leg}`;
  if (event.kind === 'decided' && event.question !== undefined)
    return { ...event, question: named(event.question), seq };
  return 'leg' in event && event.leg !== undefined
    ? { ...event, leg: named(event.leg), seq }
    : { ...event, seq };
}
