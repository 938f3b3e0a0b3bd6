/** The last index of ascending numbers whose number is not above `value`; -1 where there is none. */
export function lastUpTo(ascending: ArrayLike<number>, value: number): number {
  let from = 0;
  let to = ascending.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((ascending[middle] ?? 0) <= value) from = middle + 1;
    else to = middle;
  }
  return from - 1;
}
