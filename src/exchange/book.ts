import type { Event } from './events.js';
import { History } from './history.js';
import { Owners } from './owners.js';
import type { TranscriptHeader } from './transcript-format.js';

/** Events that are kept for whoever looks back: all of them, those of each call, and what follows from them. */
export class Book {
  /** @param observer who saw the events: a transcript's header says it */
  constructor(readonly observer: TranscriptHeader['observer'] = 'runtime') {}

  readonly history = new History();
  /** In the order in which they happened. */
  readonly events: Event[] = [];
  /** Keys of its calls, oldest first. */
  readonly keys: string[] = [];
  readonly #owners = new Owners(this.history);
  readonly #byCall = new Map<string | null, Event[]>();

  readonly apply = (event: Event): void => {
    const known = this.history.exchanges.size;
    this.history.apply(event);
    this.events.push(event);
    if (this.history.exchanges.size > known) this.#begin(event);
    for (const key of this.#owners.of(event)) this.#eventsOf(key).push(event);
  };

  /** The events of a call; of null, those that belong to none. */
  of(key: string | null): readonly Event[] {
    return this.#byCall.get(key) ?? [];
  }

  #begin({ calls = [] }: Event): void {
    for (const key of calls)
      if (this.history.exchanges.has(key) && !this.#byCall.has(key)) this.keys.push(key);
  }

  #eventsOf(key: string | null): Event[] {
    const events = this.#byCall.get(key) ?? [];
    this.#byCall.set(key, events);
    return events;
  }
}
