import { retryAfterMs } from '../../transport/retry-after.js';

const FIRST_PAUSE_MS = 200;

/** What decides how long to wait before the next attempt. */
export interface Waiting {
  /** How many attempts have failed so far; from 1. */
  readonly failures: number;
  /** The `Retry-After` of the answer, where it had one. */
  readonly retryAfter?: string | undefined;
}

/**
 * The pause in ms before the next attempt: full jitter, so that many that failed together do not come back together, and not
 * before the time that was asked for; `maxMs` bounds both (TOOL-RETRY).
 * @param random uniform in [0, 1).
 */
export function pauseMs({ failures, retryAfter }: Waiting, random: number, maxMs: number, now: Date): number {
  const jittered = random * Math.min(maxMs, FIRST_PAUSE_MS * 2 ** (failures - 1));
  return Math.min(maxMs, Math.max(jittered, retryAfterMs(retryAfter, now)));
}
