import type { Clock } from '../../system/clock.js';

/** Waiting that can be cut short, for all that wait at once. */
export class Pauses {
  readonly #wakes = new Set<() => void>();

  constructor(private readonly clock: Clock) {}

  /** Resolves after `ms` milliseconds, or when everybody is woken. */
  wait(ms: number): Promise<void> {
    return new Promise(resolve => {
      const wake = () => {
        cancel();
        this.#wakes.delete(wake);
        resolve();
      };
      const cancel = this.clock.after(ms, wake);
      this.#wakes.add(wake);
    });
  }

  wakeAll(): void {
    for (const wake of this.#wakes) wake();
  }
}
