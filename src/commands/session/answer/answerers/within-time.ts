import type { Clock } from '../../../../system/clock.js';

/** A limit on how long somebody may take. */
export interface TimeLimit {
  readonly clock: Clock;
  /** 0 is no limit. */
  readonly ms: number;
  readonly signal: AbortSignal;
}

/** What the work comes to; null where its time was over before: its signal, which follows the given one, is then aborted. */
export async function withinTime<T>(
  { clock, ms, signal }: TimeLimit,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | null> {
  if (ms === 0) return work(signal);
  const over = new AbortController();
  let cancel = () => {};
  const late = new Promise<null>(resolve => {
    cancel = clock.after(ms, () => {
      resolve(null);
      over.abort();
    });
  });
  return Promise.race([work(AbortSignal.any([signal, over.signal])), late]).finally(cancel);
}
