import type { ToldEvent } from '../../../story/calls/index.js';
import type { Step } from '../../../story/steps/index.js';

/** A call by itself, event by event. */
export interface Story {
  /** All that has happened by now and is remembered; it only grows. */
  readonly told: readonly ToldEvent[];
  /** How many events are not remembered any more. */
  readonly forgotten: number;
  /** What it waits for now. */
  readonly running: readonly Step[];
}

/** `12 events, 300 more forgotten` */
export function countedWords(count: number, what: string, forgotten: number): string {
  const gone = forgotten > 0 ? `, ${forgotten} more forgotten` : '';
  return `${count} ${what}${count === 1 ? '' : 's'}${gone}`;
}
