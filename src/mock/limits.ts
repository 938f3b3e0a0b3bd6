import type { Clock } from '../system/clock.js';
import { parseDuration } from '../util/text.js';

/** Default limits; the help of the command shows the same figures. */
export const DEFAULTS = {
  maxPending: 10_000,
  /** Of the bodies of callbacks that are on their way. */
  maxPendingBytes: 256 * 1024 * 1024,
  retries: 5,
  maxBody: 10 * 1024 * 1024,
  keep: 10_000,
  /** How many calls that are over a durable journal knows at least. */
  journalCalls: 100_000,
  drainMs: 5_000,
  /** Of one attempt of a callback, in ms. */
  attemptMs: 15_000,
  /** Between two attempts at most, in ms. */
  maxPauseMs: 30_000,
  perOrigin: 256,
} as const;

/** At most so many calls in so long a time; all of them may come at once after a rest. */
export interface Rate {
  readonly calls: number;
  /** In ms. */
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
 * A bucket of `calls` tokens that is refilled evenly, one every `within / calls` ms (TOOL-RATE). Each call of the returned function
 * takes a token and returns 0, or without a token left the milliseconds until the next one. Without a rate it returns 0.
 */
export function rateGate(rate: Rate | undefined, clock: Pick<Clock, 'now'>): () => number {
  if (!rate) return () => 0;
  const { calls, within } = rate;
  let fullAt = Number.NEGATIVE_INFINITY; // in ms times `calls`: whole numbers, in which rounding errors do not add up
  return () => {
    const now = clock.now() * calls;
    const full = Math.max(fullAt, now);
    const wait = (full - now - within * (calls - 1)) / calls;
    if (wait > NOTHING) return Math.ceil(wait - NOTHING);
    fullAt = full + within;
    return 0;
  };
}
