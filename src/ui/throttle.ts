import type { Clock } from '../system/clock.js';

export interface Throttled {
  /** Once more, soon; any number of times until then is one. */
  ask(): void;
  stop(): void;
}

/** Work that is done whenever it is asked for, but never more often than every so many ms, and never within what asks for it. */
export function throttled(clock: Clock, everyMs: number, work: () => void): Throttled {
  let last = Number.NEGATIVE_INFINITY;
  let cancel: (() => void) | null = null;
  return {
    ask() {
      cancel ??= clock.after(Math.max(0, last + everyMs - clock.now()), () => {
        cancel = null;
        last = clock.now();
        work();
      });
    },
    stop() {
      cancel?.();
    },
  };
}
