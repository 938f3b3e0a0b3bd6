import type { Event } from '../../exchange/events.js';
import { RecentCalls } from '../../exchange/recent-calls.js';
import { RecentEvents } from '../../exchange/recent-events.js';
import type { Line } from '../../story/line.js';
import { NO_CALLS, newsOf, stepTally, tallyLine } from '../../story/tool-calls/index.js';
import type { Clock } from '../../system/clock.js';

/** What is remembered of what the mock tells, bounded however long it tells. */
export class Memory {
  readonly calls = new RecentCalls();
  readonly events = new RecentEvents();
  #tally = NO_CALLS;
  /** When the mock's events began, by the clock. */
  #start: number;

  constructor(private readonly clock: Clock) {
    this.#start = clock.now();
  }

  /** Returns what there is to say of it where it belongs to no call. */
  take(event: Event): Line | null {
    this.#start = this.clock.now() - event.at;
    this.calls.apply(event);
    this.events.apply(event);
    this.#tally = stepTally(this.#tally, event);
    return event.calls?.length ? null : newsOf(event, undefined);
  }

  /** Ms since the start. */
  get now(): number {
    return this.clock.now() - this.#start;
  }

  get tally() {
    return this.#tally;
  }

  /** How it went, in a line. */
  get summary(): string {
    return tallyLine(this.#tally)
      .map(({ text }) => text)
      .join('');
  }
}
