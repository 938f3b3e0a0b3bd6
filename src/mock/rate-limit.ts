import type { Clock } from '../system/drafts.js';
import { parseDuration } from '../util/format.js';

/** So many calls in so long a time, all of them at once where nothing came before. */
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

/** Below this a wait is an error of rounding, in ms. */
const NOTHING = 1e-6;

/** A bucket that holds `calls` tokens and is refilled evenly, one every `within / calls` ms (TOOL-RATE). */
export class RateLimiter {
  /** When the bucket will be full again, in ms times `calls`: whole numbers, to which no error of rounding adds up. */
  #full = Number.NEGATIVE_INFINITY;

  constructor(private readonly rate: Rate) {}

  /** Takes a token and returns 0; without a token left, returns the milliseconds until the next one, rounded up. */
  take(now: number): number {
    const { calls, within } = this.rate;
    const full = Math.max(this.#full, now * calls);
    const wait = (full - now * calls - within * (calls - 1)) / calls;
    if (wait > NOTHING) return Math.ceil(wait - NOTHING);
    this.#full = full + within;
    return 0;
  }
}

/** Asked once per call: how many ms it must wait; 0 where it may go on, as every call may without a rate. */
export function rateGate(rate: Rate | undefined, clock: Pick<Clock, 'now'>): () => number {
  if (!rate) return () => 0;
  const limiter = new RateLimiter(rate);
  return () => limiter.take(clock.now());
}
