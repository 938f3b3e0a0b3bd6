import { hash } from 'node:crypto';
import { RecentMap } from '../util/collections.js';

/** One arrival of an invocation. A retry of the runtime has the same ids and bytes. */
interface Arrival {
  /** Names the call in every event. */
  readonly key: string;
  /** 1 for the first time. */
  readonly attempt: number;
  /** It was accepted before. */
  readonly isRepeat: boolean;
  /** Its id is that of another call of the same thread. */
  readonly isReused: boolean;
}

interface KnownCall {
  readonly sha256: string;
  readonly key: string;
  attempts: number;
  isAccepted: boolean;
}

/** Characters. Keys are in every event (threats, row 15): a longer id is replaced by a digest. */
const LONGEST_KEY = 256;

/** Tells a repeated invocation from a new one. The oldest are forgotten first. */
export class Repeats {
  /** The latest call of each id. */
  readonly #latest: RecentMap<string, KnownCall>;
  /** Calls whose id another call took since: by id and bytes. */
  readonly #earlier: RecentMap<string, KnownCall>;
  #reuses = 0;

  /** @param count how many are remembered at least. */
  constructor(count = 5_000) {
    this.#latest = new RecentMap(count);
    this.#earlier = new RecentMap(count);
  }

  /** Takes note of an invocation; it counts as accepted until {@link refuse}. */
  arrive(thread: string, id: string, sha256: string): Arrival {
    const identity = identityOf(thread, id);
    const known = this.#find(identity, sha256);
    if (known) {
      const { key, isAccepted: isRepeat } = known;
      known.isAccepted = true;
      return { key, attempt: ++known.attempts, isRepeat, isReused: false };
    }
    const isReused = this.#latest.get(identity) !== undefined;
    const key = isReused ? `${identity}#${++this.#reuses + 1}` : identity;
    this.#remember(identity, { sha256, key, attempts: 1, isAccepted: true });
    return { key, attempt: 1, isRepeat: false, isReused };
  }

  /** Restores a call that was accepted before a restart. */
  recall(thread: string, id: string, sha256: string, key = identityOf(thread, id)): void {
    const identity = identityOf(thread, id);
    if (key !== identity) this.#reuses++;
    this.#remember(identity, { sha256, key, attempts: 1, isAccepted: true });
  }

  /** The call was not accepted: the same invocation again is not a repeat. */
  refuse(thread: string, id: string, sha256: string): void {
    const known = this.#find(identityOf(thread, id), sha256);
    if (known) known.isAccepted = false;
  }

  /** The key of the latest call with this id, known or not. */
  keyOf(thread: string, id: string): string {
    const identity = identityOf(thread, id);
    return this.#latest.get(identity)?.key ?? identity;
  }

  clear(): void {
    this.#latest.clear();
    this.#earlier.clear();
  }

  #find(identity: string, sha256: string): KnownCall | undefined {
    const latest = this.#latest.get(identity);
    return !latest || latest.sha256 === sha256 ? latest : this.#earlier.get(identity + sha256);
  }

  #remember(identity: string, call: KnownCall): void {
    const latest = this.#latest.get(identity);
    if (latest && latest.sha256 !== call.sha256) this.#earlier.set(identity + latest.sha256, latest);
    this.#latest.set(identity, call);
  }
}

/** No thread and id run together into those of another call (TOOL-ISOLATE). */
function identityOf(thread: string, id: string): string {
  const identity = JSON.stringify([thread, id]);
  return identity.length <= LONGEST_KEY ? identity : `sha256:${hash('sha256', identity)}`;
}
