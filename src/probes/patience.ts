import { setMaxListeners } from 'node:events';
import type { Clock } from '../system/clock.js';

/** How long things are waited for, and what ends all waiting. */
export interface Patience {
  readonly clock: Clock;
  /** Ends every wait at once. */
  readonly signal: AbortSignal;
}

/** Waits for what is to come, `ms` at most. False where it had not come by then. */
export async function cameBy(
  { clock, signal }: Patience,
  ms: number,
  coming: Promise<unknown>,
): Promise<boolean> {
  let stop = () => {};
  const over = new Promise<false>(resolve => {
    const end = () => resolve(false);
    const cancel = clock.after(ms, end);
    signal.addEventListener('abort', end, { once: true });
    stop = () => {
      cancel();
      signal.removeEventListener('abort', end);
    };
    if (signal.aborted) end();
  });
  try {
    return await Promise.race([coming.then(() => true), over]);
  } finally {
    stop();
  }
}

/** Lets time pass. */
export async function pause(patience: Patience, ms: number): Promise<void> {
  await cameBy(patience, ms, NEVER);
}

const NEVER = new Promise<never>(() => {});

/** Aborted with the first of them. Everything under way listens to it, which Node would take for a leak. */
export function heardByMany(...signals: AbortSignal[]): AbortSignal {
  const heard = AbortSignal.any(signals);
  setMaxListeners(0, heard);
  return heard;
}
