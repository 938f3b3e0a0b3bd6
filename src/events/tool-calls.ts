import type { Event } from './events.js';
import { stepToolCall, type ToolCall } from './tool-call.js';

/** The calls in a list of events as the tool saw them, oldest first. */
export class ToolCalls {
  readonly #calls = new Map<string, ToolCall>();

  /** Of as many events as are given; a ring may have forgotten how a call began. */
  static of(events: Iterable<Event>): ToolCalls {
    const calls = new ToolCalls();
    for (const event of events) calls.apply(event);
    return calls;
  }

  apply(event: Event): void {
    for (const key of event.calls ?? []) {
      const next = stepToolCall(key, this.#calls.get(key), event);
      if (next) this.#calls.set(key, next);
    }
  }

  get(key: string): ToolCall | undefined {
    return this.#calls.get(key);
  }

  get list(): readonly ToolCall[] {
    return [...this.#calls.values()];
  }

  /** Forgets all but the latest `count` calls. */
  keep(count: number): void {
    for (const key of [...this.#calls.keys()].slice(0, Math.max(0, this.#calls.size - count)))
      this.#calls.delete(key);
  }
}
