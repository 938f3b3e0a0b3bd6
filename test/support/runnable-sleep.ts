import { createRunnableClock } from '../../src/system/clock.js';

const clock = createRunnableClock();

/** Resolves after `ms` of the time in which this process can run: a check in this process measures at least as much. */
export function runnableSleep(ms: number): Promise<void> {
  return new Promise(resolve => void clock.after(ms, resolve));
}
