import type { Clock } from '../system/clock.js';

/** A time limit that stands still while a person decides. */
export interface Deadline {
  pause(): void;
  resume(): void;
  cancel(): void;
}

/** Calls back once, `afterMs` of running time from now; never, where it is 0. */
export function startDeadline(clock: Clock, afterMs: number, callback: () => void): Deadline {
  let left = afterMs;
  let since = 0;
  let cancelTimer: (() => void) | null = null;
  const stop = () => {
    cancelTimer?.();
    cancelTimer = null;
  };
  const run = () => {
    if (afterMs === 0 || cancelTimer) return;
    since = clock.now();
    cancelTimer = clock.after(left, callback);
  };
  run();
  return {
    pause() {
      if (cancelTimer) left = Math.max(0, left - (clock.now() - since));
      stop();
    },
    resume: run,
    cancel: stop,
  };
}
