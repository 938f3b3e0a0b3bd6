import { excerpt } from '../../text/excerpt.js';

/** A list that one goes through. */
export interface Listed {
  readonly ids: readonly string[];
  readonly selected: number;
  /** What search looks at. */
  readonly textOf: (index: number) => string;
}

/** The index one further; it stays at either end. */
export function moved({ ids, selected }: Listed, by: number): number {
  return Math.max(0, Math.min(ids.length - 1, selected + by));
}

/** The next entry with this in its text, round and round; null where there is none. */
export function found({ ids, selected, textOf }: Listed, wanted: string | null, step: 1 | -1): number | null {
  if (wanted === null || wanted === '') return null;
  const needle = wanted.toLowerCase();
  for (let away = 1; away <= ids.length; away++) {
    const index = cycled(selected, step * away, ids.length);
    if (textOf(index).toLowerCase().includes(needle)) return index;
  }
  return null;
}

/** What is to be said of a search that comes to no entry; null where it comes to one. */
export function missing(listed: Listed, wanted: string | null): string | null {
  if (wanted === null || wanted === '') return 'nothing is searched for';
  return found(listed, wanted, 1) === null ? `not found: ${excerpt(wanted)}` : null;
}

export function cycled(index: number, by: number, length: number): number {
  return length === 0 ? 0 : (((index + by) % length) + length) % length;
}
