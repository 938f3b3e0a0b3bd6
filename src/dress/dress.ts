import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';
import type { Line } from '../story/line.js';
import { breakClusters } from './break-clusters.js';
import type { Theme } from './theme.js';

/** Room for text below which a hanging indent would waste the row. */
const MIN_ROOM = 10;

/** A line as the terminal gets it. */
export function dressLine(line: Line, theme: Theme): string {
  return line.map(({ text, tone }) => theme[tone](text)).join('');
}

/**
 * A line as rows of at most `width` cells (2 or more: no wide character fits into less).
 * What stands up to the last gutter span is not repeated: the rows that follow are indented by it.
 */
export function wrapLine(line: Line, width: number, theme: Theme): string[] {
  const bodyStart = line.findLastIndex(({ tone }) => tone === 'gutter') + 1;
  const gutter = dressLine(line.slice(0, bodyStart), theme);
  const indent = stringWidth(gutter);
  if (width - indent < MIN_ROOM) return wrap(line, width, theme);
  const rows = wrap(line.slice(bodyStart), width - indent, theme);
  return rows.map((row, index) => (index === 0 ? gutter : ' '.repeat(indent)) + row);
}

function wrap(line: Line, width: number, theme: Theme): string[] {
  const rows = wrapAnsi(dressLine(line, theme), width, { hard: true, trim: false }).split('\n');
  if (rows.every(row => stringWidth(row) <= width)) return rows;
  return dressLine(breakClusters(line, width), theme).split('\n');
}
