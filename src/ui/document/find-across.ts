import type { Offsets } from '../../text/offsets.js';

type Places = Pick<Offsets, 'locate' | 'lengthOf'> & { readonly starts: ArrayLike<number> };

/**
 * Looks through parts one after the other, from a line of the whole on.
 * @param findIn looks through one of them, from one of its own lines on
 */
export function findAcross(
  { starts, locate, lengthOf }: Places,
  from: number,
  step: 1 | -1,
  findIn: (which: number, at: number) => number | null,
): number | null {
  let { which, at } = locate(from);
  while (which >= 0 && which < starts.length) {
    const found = findIn(which, at);
    if (found !== null) return (starts[which] ?? 0) + found;
    which += step;
    at = step > 0 ? 0 : lengthOf(which) - 1;
  }
  return null;
}
