import { createHash } from 'node:crypto';
import { type CallEnd, tellingEnd } from '../events/call-ends.js';
import { RecentMap } from '../util/collections.js';
import { LIMITS } from '../util/limits.js';

/** How the recorded calls ended so far. */
export class CallEnds {
  readonly counts = new Map<CallEnd, number>();
  readonly #ends = new RecentMap<string, CallEnd>(LIMITS.callsRemembered.value);

  add(key: string, end: CallEnd): void {
    const known = this.#ends.get(key);
    const next = known === undefined ? end : tellingEnd([known, end]);
    this.#ends.set(key, next);
    if (next === known) return;
    this.#count(next, 1);
    if (known !== undefined) this.#count(known, -1);
  }

  #count(end: CallEnd, more: number): void {
    this.counts.set(end, (this.counts.get(end) ?? 0) + more);
  }
}

/** Call keys by thread and id, both of which are foreign: the same call again has the same key. */
export class CallKeys {
  readonly #keys = new RecentMap<string, string>(LIMITS.callsRemembered.value);
  readonly #taken = new RecentMap<string, true>(LIMITS.callsRemembered.value);
  #named = 0;

  keyFor(thread: unknown, id: unknown): string {
    const known = this.find(thread, id);
    if (known !== undefined) return known;
    let key = nameOf(id) || this.#fresh();
    while (this.#taken.get(key)) key = this.#fresh();
    this.#taken.set(key, true);
    if (typeof id === 'string') this.#keys.set(digestOf(thread, id), key);
    return key;
  }

  find(thread: unknown, id: unknown): string | undefined {
    return typeof id === 'string' ? this.#keys.get(digestOf(thread, id)) : undefined;
  }

  #fresh(): string {
    return `recorded-${++this.#named}`;
  }
}

/** Limits ids, which may be as long as a message. */
function digestOf(thread: unknown, id: string): string {
  const name = JSON.stringify([typeof thread === 'string' ? thread : null, id]);
  return createHash('sha256').update(name).digest('base64');
}

const MAX_NAME_LENGTH = 1024;

/** Returns a value that is short enough to identify a call or a thread; otherwise undefined. */
export function nameOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.length <= MAX_NAME_LENGTH ? value : undefined;
}
