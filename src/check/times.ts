import type { Event } from '../events/events.js';
import type { RecordedCall } from './recorded-call.js';

/** When an event came by the clock, as a transcript shows it: with the time in which the observer could not run. */
export function clockTime({ at, stalled = 0 }: Pick<Event, 'at' | 'stalled'>): number {
  return at + stalled;
}

/** From when to when a call runs, in ms: up to its last callback; without one, until it is canceled or its thread closed. */
export function spanOf({ attempts, callbacks, cancels, closes }: RecordedCall): { from: number; to: number } {
  const from = attempts[0]?.request.at ?? 0;
  const last = callbacks.at(-1) ?? cancels[0] ?? closes[0];
  return { from, to: last?.request.at ?? Number.POSITIVE_INFINITY };
}

export function ranTogether(one: RecordedCall, other: RecordedCall): boolean {
  const [first, second] = [spanOf(one), spanOf(other)];
  return one !== other && first.from < second.to && second.from < first.to;
}
