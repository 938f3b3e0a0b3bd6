import type { Clock } from '../system/clock.js';

/** Waits for what comes true by an event. */
export class Waits {
  readonly #looks = new Set<() => void>();

  /** @param signal ends every wait */
  constructor(
    private readonly clock: Clock,
    private readonly signal: AbortSignal,
  ) {
    signal.addEventListener('abort', () => this.look(), { once: true });
  }

  /** Waits at most `ms`. Resolves to whether it came true, which may be at once. */
  until(isTrue: () => boolean, ms: number): Promise<boolean> {
    if (isTrue()) return Promise.resolve(true);
    if (this.signal.aborted) return Promise.resolve(false);
    return new Promise(resolve => {
      const settle = (isMet: boolean) => {
        cancel();
        this.#looks.delete(look);
        resolve(isMet);
      };
      const look = () => {
        if (isTrue()) settle(true);
        else if (this.signal.aborted) settle(false);
      };
      const cancel = this.clock.after(ms, () => settle(false));
      this.#looks.add(look);
    });
  }

  /** Looks again, after an event. */
  look(): void {
    for (const look of [...this.#looks]) look();
  }
}
