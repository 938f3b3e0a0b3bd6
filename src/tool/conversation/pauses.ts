import type { Clock } from '../../system/clock.js';
import type { CallingOff } from './calling-off.js';

/** Waiting that can be cut short: for one call when it is called off, for all of them when everything is due at once. */
export class Pauses {
  readonly #cuts = new Set<() => void>();
  #isHurried = false;

  constructor(private readonly clock: Clock) {}

  /** Monotonic milliseconds. */
  now(): number {
    return this.clock.now();
  }

  /** Resolves after `ms` milliseconds, or as soon as the waiting is cut short. */
  async wait(ms: number, callingOff: CallingOff): Promise<void> {
    if (ms > 0) await this.within(new Promise<never>(() => {}), ms, callingOff);
  }

  /** What `work` comes to; null where `ms` milliseconds passed first, or the waiting was cut short. */
  within<T>(work: Promise<T>, ms: number | undefined, callingOff: CallingOff): Promise<T | null> {
    if (this.#isHurried || callingOff.reason !== null) return Promise.resolve(null);
    return new Promise(resolve => {
      const settle = (value: T | null) => {
        cancelTimer();
        this.#cuts.delete(cut);
        stopListening();
        resolve(value);
      };
      const cut = () => settle(null);
      const cancelTimer = ms === undefined ? () => {} : this.clock.after(ms, cut);
      this.#cuts.add(cut);
      const stopListening = callingOff.listen(cut);
      work.then(settle, cut);
    });
  }

  /** Nothing is waited for any more. */
  get isHurried(): boolean {
    return this.#isHurried;
  }

  /** From now on nothing is waited for. */
  hurry(): void {
    this.#isHurried = true;
    for (const cut of [...this.#cuts]) cut();
  }
}
