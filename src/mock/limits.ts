import type { Clock } from '../system/clock.js';
import { parseDuration } from '../util/text.js';

/** Default limits; the command's help shows the same values. */
export const DEFAULTS = {
  maxPending: 10_000,
  /** Total size of the bodies of pending callbacks, in bytes. */
  maxPendingBytes: 256 * 1024 * 1024,
  retries: 5,
  maxBody: 10 * 1024 * 1024,
  keep: 10_000,
  /** Minimum number of finished calls that a durable journal remembers. */
  journalCalls: 100_000,
  drainMs: 5_000,
  /** Timeout of one callback attempt, in ms. */
  attemptMs: 15_000,
  /** Maximum pause between two attempts, in ms. */
  maxPauseMs: 30_000,
  perOrigin: 256,
} as const;

/** Maximum number of calls per time window; all of them may arrive at once. */
export interface Rate {
  readonly calls: number;
  /** Length of the window, in ms. */
  readonly within: number;
}

const RATE = /^(\d{1,9})\s*\/\s*(?:(\d.*)|(ms|s|m|h))$/;

/** Parses `10/s`, `100/m`, `5/10s`; null if invalid or zero. */
export function parseRate(text: string): Rate | null {
  const [, calls = '', duration, unit = ''] = RATE.exec(text.trim()) ?? [];
  const within = parseDuration(duration ?? `1${unit}`) ?? 0;
  return Number(calls) > 0 && within > 0 ? { calls: Number(calls), within } : null;
}

/** A shorter wait is a rounding error, in ms. */
const NOTHING = 1e-6;

/**
 * Creates a bucket of `calls` tokens with one refill every `within / calls` ms (TOOL-RATE). Each call of the returned function takes a
 * token and returns 0; without a token left it returns the milliseconds until the next one. Without a rate it returns 0.
 */
export function rateGate(rate: Rate | undefined, clock: Pick<Clock, 'now'>): () => number {
  if (!rate) return () => 0;
  const { calls, within } = rate;
  let fullAt = Number.NEGATIVE_INFINITY; // in ms times `calls`: integers avoid accumulated rounding errors
  return () => {
    const now = clock.now() * calls;
    const full = Math.max(fullAt, now);
    const wait = (full - now - within * (calls - 1)) / calls;
    if (wait > NOTHING) return Math.ceil(wait - NOTHING);
    fullAt = full + within;
    return 0;
  };
}
