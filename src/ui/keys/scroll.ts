import type { Hint } from '../hints.js';

const SCROLLS: Readonly<Record<string, number>> = {
  up: -1,
  k: -1,
  down: 1,
  j: 1,
  pageup: -10,
  pagedown: 10,
  space: 10,
  home: Number.NEGATIVE_INFINITY,
  g: Number.NEGATIVE_INFINITY,
  end: Number.POSITIVE_INFINITY,
  G: Number.POSITIVE_INFINITY,
};

const CLOSES: ReadonlySet<string> = new Set(['escape', 'enter', '?', 'ctrl+g', 'q']);

/** The keys of a page that is only read. */
export const PAGE_HINTS: readonly Hint[] = [['↑↓ PgUp PgDn', 'scroll']];
export const PAGE_ENDS: readonly Hint[] = [
  ['Esc', 'close'],
  ['Ctrl-C', 'quit'],
];

/**
 * What a key does to a page that is only read: how many rows of it are above then, at most `most`; or it closes it; or, `beneath`, it
 * is none of its keys.
 */
export function pressedOnPage(name: string, scroll: number, most: number): number | 'close' | 'beneath' {
  const by = SCROLLS[name];
  if (by !== undefined) return Math.max(0, Math.min(most, scroll + by));
  return CLOSES.has(name) ? 'close' : 'beneath';
}
