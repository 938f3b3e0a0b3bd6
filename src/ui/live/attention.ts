/** What is in the keyboard's buffer when the terminal turns to raw mode comes within this. */
const SETTLE_MS = 50;

/**
 * What was typed before there was something to answer is no answer to it. So a question is shown, and takes keys, only after a
 * moment; until then they are dropped.
 */
export class Attention {
  #to: object | null = null;
  #since = 0;

  /** `wake` is called with the time, in ms, after which {@link isPaidTo} becomes true. */
  constructor(private readonly wake: (ms: number) => void) {}

  /** There is something else to answer now, or nothing. */
  turn(to: object | null, now: number): void {
    if (to === this.#to) return;
    this.#to = to;
    this.#since = now;
    if (to !== null) this.wake(SETTLE_MS);
  }

  isPaidTo(to: object, now: number): boolean {
    return to === this.#to && now - this.#since >= SETTLE_MS;
  }
}
