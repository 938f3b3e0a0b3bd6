import { RecentMap } from '../text/recent-map.js';

/** An invocation that was passed on. */
export interface RecordedCall {
  /** Names it in events: its id where it has one that no other thread uses. */
  readonly key: string;
  readonly thread: string | undefined;
  /** Where its callbacks go on to, as the runtime gave it (TOOL-OPAQUE). */
  readonly callbackUrl: string;
  /** Our base URL as its runtime reaches us. */
  readonly runtimeBase: string;
}

/** Calls and questions: of those of long ago nobody asks. */
export const REMEMBERED = 50_000;

/** Keys for calls by their thread and id, both of them foreign: the same call again has the same key. */
export class CallKeys {
  readonly #keys = new RecentMap<string, string>(REMEMBERED);
  readonly #taken = new RecentMap<string, true>(REMEMBERED);
  #count = 0;

  /** Of a call that comes in. */
  keyFor(thread: unknown, id: unknown): string {
    const known = this.find(thread, id);
    if (known !== undefined) return known;
    const key = typeof id === 'string' && id !== '' && !this.#taken.get(id) ? id : this.#fresh();
    this.#taken.set(key, true);
    if (typeof id === 'string') this.#keys.set(nameOf(thread, id), key);
    return key;
  }

  /** Of a call that came in. */
  find(thread: unknown, id: unknown): string | undefined {
    return typeof id === 'string' ? this.#keys.get(nameOf(thread, id)) : undefined;
  }

  #fresh(): string {
    let key: string;
    do key = `recorded-${++this.#count}`;
    while (this.#taken.get(key));
    return key;
  }
}

function nameOf(thread: unknown, id: string): string {
  return JSON.stringify([typeof thread === 'string' ? thread : null, id]);
}
