import type { Event } from '../../exchange/events.js';

/** What was tried, and how long it took. */
export interface ProbeTime {
  readonly id: string;
  readonly calls: number;
  /** From its first call to the last that was heard of them; null for what makes no calls. */
  readonly ms: number | null;
}

/** The probes of a check, in the order in which they were planned. Empty where nothing was probed. */
export function probeTimes(events: readonly Event[]): readonly ProbeTime[] {
  const begun = new Map<string, Map<string, number>>();
  for (const event of events) {
    if (event.kind !== 'planned' || event.by !== 'probe') continue;
    const calls = begun.get(event.plan) ?? new Map<string, number>();
    for (const key of event.calls ?? []) calls.set(key, event.at);
    begun.set(event.plan, calls);
  }
  const ends = lastHeard(events);
  return [...begun].map(([id, calls]) => ({ id, calls: calls.size, ms: spanOf(calls, ends) }));
}

/** When the last thing happened that is about a call. */
function lastHeard(events: readonly Event[]): ReadonlyMap<string, number> {
  return new Map(events.flatMap(({ calls = [], at }) => calls.map(key => [key, at] as const)));
}

function spanOf(calls: ReadonlyMap<string, number>, ends: ReadonlyMap<string, number>): number | null {
  if (calls.size === 0) return null;
  let [begun, ended] = [Number.POSITIVE_INFINITY, 0];
  for (const [key, at] of calls) {
    begun = Math.min(begun, at);
    ended = Math.max(ended, ends.get(key) ?? at);
  }
  return toMicros(ended - begun);
}

/** When the last event happened: how long it all took. */
export function wholeTime(events: readonly Event[]): number {
  return events.reduce((latest, { at }) => Math.max(latest, at), 0);
}

function toMicros(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}
