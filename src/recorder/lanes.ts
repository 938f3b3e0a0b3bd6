import type { Clock } from '../system/clock.js';

/** A place in a queue. */
export interface Place {
  /** Resolves when those before it have left, or have taken too long. */
  readonly turn: Promise<void>;
  leave(): void;
}

/**
 * Keeps what belongs together in the order in which it came: messages of one thread, in one direction (RT-SERIAL). Each waits for the
 * answer to the one before, though no longer than `patienceMs` from when that one's turn was: who is slow to answer, or never does,
 * would not hold up the others without us either.
 */
export class Lanes {
  /** When the next one's turn is. */
  readonly #free = new Map<string, Promise<void>>();

  constructor(
    private readonly clock: Clock,
    private readonly patienceMs: number,
  ) {}

  enter(lane: string): Place {
    const turn = this.#free.get(lane) ?? Promise.resolve();
    let leave = () => {};
    const left = new Promise<void>(resolve => {
      leave = resolve;
    });
    const free = turn.then(() => this.#within(left));
    this.#free.set(lane, free);
    void free.then(() => this.#forget(lane, free));
    return { turn, leave };
  }

  #within(left: Promise<void>): Promise<void> {
    return new Promise(resolve => {
      const callOff = this.clock.after(this.patienceMs, resolve);
      void left.then(callOff).then(resolve);
    });
  }

  #forget(lane: string, free: Promise<void>): void {
    if (this.#free.get(lane) === free) this.#free.delete(lane);
  }
}
