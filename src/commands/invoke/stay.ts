import type { Log } from '../../exchange/log.js';
import type { Clock } from '../../system/clock.js';

/** What is looked at while more may come, and until when. */
export interface Watching {
  readonly log: Log;
  readonly clock: Clock;
  /** Aborted when a person wants to stop. */
  readonly signal: AbortSignal;
}

/** `--linger`: what still comes is told too. That nothing more came is a fact, unless a person did not wait for it. */
export async function linger({ log, clock, signal }: Watching, afterMs: number): Promise<void> {
  await waiting(clock, afterMs, signal);
  if (!signal.aborted) log.emit({ kind: 'expired', what: 'linger', afterMs });
}

/** Resolves after a time, or at once where a person wants to stop. */
export function waiting(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise(resolve => {
    if (signal?.aborted) return resolve();
    const leave = () => {
      cancel();
      signal?.removeEventListener('abort', leave);
      resolve();
    };
    const cancel = clock.after(ms, leave);
    signal?.addEventListener('abort', leave);
  });
}

/** Resolves once nobody reads what is told, as after `head -1`, or it can be told no more. */
export function readerGone(stdout: NodeJS.WritableStream): Promise<void> {
  return new Promise(resolve => {
    stdout.once('error', () => resolve());
  });
}
