import { hash } from 'node:crypto';
import { RecentMap } from '../util/collections.js';

/** An invocation that arrived, and those with the same ids and bytes: a retry of the runtime has both. */
export interface KnownCall {
  readonly sha256: string;
  /** Call key used in every event. */
  readonly key: string;
  attempts: number;
  /** False after a refusal: then the next attempt is not a repeat. */
  isAccepted: boolean;
}

export interface Arrival {
  readonly call: KnownCall;
  readonly isRepeat: boolean;
  /** Whether its id belongs to another call of the same thread. */
  readonly isReused: boolean;
}

/** Maximum length of an id in a key, in characters. Keys are in every event (threats, row 15), so a longer id is replaced by a digest. */
const MAX_KEY_LENGTH = 256;

/** Detects repeated invocations. The oldest are forgotten first. */
export class Repeats {
  readonly #latest: RecentMap<string, KnownCall>;
  /** Earlier calls whose id was reused: by id and bytes. */
  readonly #earlier: RecentMap<string, KnownCall>;
  #reuses = 0;

  /** @param count minimum number of remembered calls */
  constructor(count: number) {
    this.#latest = new RecentMap(count);
    this.#earlier = new RecentMap(count);
  }

  /** Records an invocation. */
  arrive(thread: string, id: string, sha256: string): Arrival {
    const identity = identityOf(thread, id);
    const latest = this.#latest.get(identity);
    const known = !latest || latest.sha256 === sha256 ? latest : this.#earlier.get(identity + sha256);
    if (known) {
      const { isAccepted: isRepeat } = known;
      known.isAccepted = true;
      known.attempts++;
      return { call: known, isRepeat, isReused: false };
    }
    const key = latest ? `${identity}#${++this.#reuses + 1}` : identity;
    return { call: this.#remember(identity, sha256, key), isRepeat: false, isReused: latest !== undefined };
  }

  /** Returns the key of the latest call with this id, known or not. */
  keyOf(thread: string, id: string): string {
    const identity = identityOf(thread, id);
    return this.#latest.get(identity)?.key ?? identity;
  }

  clear(): void {
    this.#latest.clear();
    this.#earlier.clear();
  }

  #remember(identity: string, sha256: string, key: string): KnownCall {
    const latest = this.#latest.get(identity);
    if (latest && latest.sha256 !== sha256) this.#earlier.set(identity + latest.sha256, latest);
    const call = { sha256, key, attempts: 1, isAccepted: true };
    this.#latest.set(identity, call);
    return call;
  }
}

/** Joins thread and id without collisions (TOOL-ISOLATE). */
function identityOf(thread: string, id: string): string {
  const identity = JSON.stringify([thread, id]);
  return identity.length <= MAX_KEY_LENGTH ? identity : `sha256:${hash('sha256', identity)}`;
}
