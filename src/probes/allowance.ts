import type { Log } from '../exchange/log.js';

/** What the callbacks of one call may take; a tool that needs more is broken, or means harm (threats, row 15). */
const MOST = { callbacks: 200, bytes: 64 * 1024 * 1024 };

/** Counts what comes to one address, and says once where it was too much. */
export class Allowance {
  #callbacks = 0;
  #bytes = 0;

  constructor(
    private readonly log: Log,
    private readonly key: string,
  ) {}

  /** @param size of one more callback, in bytes */
  admits(size: number): boolean {
    const wasFull = this.#isFull();
    this.#callbacks++;
    this.#bytes += size;
    if (!wasFull && this.#isFull())
      this.log.emit({
        kind: 'warned',
        calls: [this.key],
        message: `more than ${MOST.callbacks} callbacks, or ${MOST.bytes} bytes, came for one call: what follows is not looked at`,
      });
    return !this.#isFull();
  }

  #isFull(): boolean {
    return this.#callbacks > MOST.callbacks || this.#bytes > MOST.bytes;
  }
}
