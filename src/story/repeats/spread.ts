import { since } from '../../text/since.js';

/** Of many times, in ms. */
export interface Spread {
  readonly min: number;
  readonly median: number;
  readonly p99: number;
}

/** Null where there are none. The nearest rank: each figure is one of the times, to the microsecond. */
export function spreadOf(times: readonly number[]): Spread | null {
  const sorted = [...times].sort((a, b) => a - b);
  const rank = (share: number) => since(sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0, 0);
  return sorted.length === 0 ? null : { min: rank(0), median: rank(0.5), p99: rank(0.99) };
}
