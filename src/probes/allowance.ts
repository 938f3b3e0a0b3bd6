import type { Log } from '../exchange/log.js';
import { bytesText } from '../text/bytes-text.js';

/** What may be taken: a tool that needs more is broken, or means harm (threats, row 15). */
export interface Most {
  readonly callbacks: number;
  readonly bytes: number;
}

/** The callbacks of one call. */
export const OF_A_CALL: Most = { callbacks: 200, bytes: 64 * 1024 * 1024 };
/** Those of all calls together, since all of them are kept to be judged. */
export const OF_A_RUN: Most = { callbacks: 5_000, bytes: 256 * 1024 * 1024 };
/** Posts to an address that is no call's. */
export const OF_STRAYS: Most = { callbacks: 1_000, bytes: Number.POSITIVE_INFINITY };

/** Whose callbacks they are, for people; and for the log. */
export interface Whose {
  readonly words: string;
  readonly calls?: string[];
}

/** Counts what comes, and says once where it was too much. */
export class Allowance {
  #callbacks = 0;
  #bytes = 0;

  constructor(
    private readonly log: Log,
    private readonly most: Most,
    private readonly whose: Whose,
  ) {}

  /** @param size of one more callback, in bytes */
  admits(size: number): boolean {
    const wasFull = this.#isFull();
    this.#callbacks++;
    this.#bytes += size;
    if (!wasFull && this.#isFull()) this.#tell();
    return !this.#isFull();
  }

  #tell(): void {
    const { callbacks, bytes } = this.most;
    const { words, calls } = this.whose;
    const most = Number.isFinite(bytes)
      ? `${callbacks} callbacks, or ${bytesText(bytes)},`
      : `${callbacks} posts`;
    const message = `more than ${most} came ${words}: what follows is not looked at`;
    this.log.emit({ kind: 'warned', ...(calls && { calls }), message });
  }

  #isFull(): boolean {
    return this.#callbacks > this.most.callbacks || this.#bytes > this.most.bytes;
  }
}
