import { createHash } from 'node:crypto';
import { RecentMap } from '../util/json-diagnosis.js';

/** An invocation that was passed on. */
export interface RecordedCall {
  /** Names it in events: its id, unless another thread uses that. */
  readonly key: string;
  readonly thread: string | undefined;
  /** The runtime's own, to which callbacks go on (TOOL-OPAQUE). */
  readonly callbackUrl: string;
  /** Our base URL as the runtime reaches us. */
  readonly runtimeBase: string;
}

/** Calls and questions; older ones are dropped. */
export const REMEMBERED = 50_000;
/** Characters of a URL that is remembered. */
export const LONGEST_URL = 8 * 1024;
const LONGEST_NAME = 1024;

/** A value that is short enough to name a call or a thread; else undefined. */
export function nameOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.length <= LONGEST_NAME ? value : undefined;
}

/** Keys for calls by their thread and id, both of them foreign: the same call again has the same key. */
export class CallKeys {
  readonly #keys = new RecentMap<string, string>(REMEMBERED);
  readonly #taken = new RecentMap<string, true>(REMEMBERED);
  #count = 0;

  /** Of a call that comes in. */
  keyFor(thread: unknown, id: unknown): string {
    const known = this.find(thread, id);
    if (known !== undefined) return known;
    const own = nameOf(id) || undefined;
    const key = own !== undefined && !this.#taken.get(own) ? own : this.#fresh();
    this.#taken.set(key, true);
    if (typeof id === 'string') this.#keys.set(digestOf(thread, id), key);
    return key;
  }

  /** Of a call that came in before. */
  find(thread: unknown, id: unknown): string | undefined {
    return typeof id === 'string' ? this.#keys.get(digestOf(thread, id)) : undefined;
  }

  #fresh(): string {
    let key: string;
    do key = `recorded-${++this.#count}`;
    while (this.#taken.get(key));
    return key;
  }
}

/** Ids may be as long as a message. */
function digestOf(thread: unknown, id: string): string {
  const name = JSON.stringify([typeof thread === 'string' ? thread : null, id]);
  return createHash('sha256').update(name).digest('base64');
}
