import { isRecord } from './json-diagnosis.js';

/** Every string in a JSON value, keys excluded. */
export function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(stringsIn);
  return isRecord(value) ? Object.values(value).flatMap(stringsIn) : [];
}

/** Replaces lone surrogates by U+FFFD, since they have no UTF-8 form. */
export function toWellFormed(text: string): { readonly text: string; readonly replaced: boolean } {
  const formed = text.toWellFormed();
  return { text: formed, replaced: formed !== text };
}

/** The last index whose number is at most `value`, or -1; the numbers ascend. */
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
