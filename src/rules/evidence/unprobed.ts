import type { Event } from '../../exchange/events.js';

/** What was no probe's doing: a probe breaks on purpose what a runtime must hold, and says so beforehand. */
export function unprobed(events: readonly Event[]): readonly Event[] {
  const keys = new Set(events.flatMap(event => (isProbe(event) ? (event.calls ?? []) : [])));
  const isProbed = ({ calls = [] }: Event) => calls.length > 0 && calls.every(key => keys.has(key));
  const threads = new Set(events.filter(isProbed).flatMap(({ thread }) => thread ?? []));
  const isOfProbedThread = ({ calls, thread }: Event) =>
    calls === undefined && thread !== undefined && threads.has(thread);
  return events.filter(event => !isProbed(event) && !isOfProbedThread(event));
}

/** Whether it says what a probe is about to do. */
export function isProbe(event: Event): boolean {
  return event.kind === 'planned' && event.by === 'probe';
}
