import { wrapLine } from '../dress/dress.js';
import type { Theme } from '../dress/theme.js';
import type { Line } from '../story/line.js';

/** Rows that can be scrolled, as far as they are seen. */
export interface Reading {
  readonly rows: readonly string[];
  /** How far they can be scrolled. */
  readonly most: number;
}

/** As many rows as there is room for, from `scroll` on; the last tells of what is below. */
export function reading(rows: readonly string[], scroll: number, height: number, theme: Theme): Reading {
  const most = Math.max(0, rows.length - height);
  const from = Math.min(scroll, most);
  const seen = rows.slice(from, from + height);
  const below = rows.length - from - height;
  if (below <= 0) return { rows: seen, most };
  const more = theme.dim(`… ${below + 1} more rows`);
  return { rows: [...seen.slice(0, -1), more], most };
}

export function wrapLines(lines: readonly Line[], width: number, theme: Theme): string[] {
  return lines.flatMap(line => wrapLine(line, width, theme));
}
