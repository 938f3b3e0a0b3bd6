import { lastUpTo } from './sorted.js';

/** Things of different lengths, one after the other. */
export interface Offsets {
  /** Of all together. */
  readonly total: number;
  /** Where each begins. */
  readonly starts: Uint32Array;
  lengthOf(which: number): number;
  /** Which of them this place is in, and where in it; -1 where it is in none. */
  locate(place: number): { readonly which: number; readonly at: number };
}

/** Adds up once, then finds by halving. */
export function offsetsOf(lengths: readonly number[]): Offsets {
  const starts = new Uint32Array(lengths.length);
  let total = 0;
  for (const [which, length] of lengths.entries()) {
    starts[which] = total;
    total += length;
  }
  return {
    total,
    starts,
    lengthOf: which => lengths[which] ?? 0,
    locate(place) {
      const which = place < total ? lastUpTo(starts, place) : -1;
      return { which, at: place - (starts[which] ?? 0) };
    },
  };
}
