import type { Event } from './events.js';
import type { History } from './history.js';

/** Keys of calls; null stands for none. */
export type Keys = readonly (string | null)[];

/**
 * Whose an event is: a closed thread concerns each of its calls, an answer whoever made the request. A request is remembered until it has
 * its answer: a session may go on for days.
 */
export class Owners {
  readonly #open = new Map<string, Keys>();

  /** @param history knows the event already, or all that there are */
  constructor(private readonly history: History) {}

  of(event: Event): Keys {
    const leg = 'leg' in event ? event.leg : undefined;
    if (leg === undefined) return this.#named(event);
    const keys = this.#open.get(leg) ?? this.#named(event);
    if (event.kind === 'request') this.#open.set(leg, keys);
    else this.#open.delete(leg);
    return keys;
  }

  /** How many requests wait for an answer. */
  get waiting(): number {
    return this.#open.size;
  }

  #named({ calls = [], thread = '' }: Event): Keys {
    const named = [...new Set(calls)].filter(key => this.history.exchanges.has(key));
    const keys = named.length > 0 ? named : (this.history.threads.get(thread)?.calls ?? []);
    return keys.length > 0 ? keys : [null];
  }
}
