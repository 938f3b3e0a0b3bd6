import type { Clock } from '../../system/clock.js';

/** Resolves after a time, or at once where the signal is aborted. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal.aborted) return resolve();
    const leave = () => {
      cancel();
      signal.removeEventListener('abort', leave);
      resolve();
    };
    const cancel = clock.after(ms, leave);
    signal.addEventListener('abort', leave);
  });
}
