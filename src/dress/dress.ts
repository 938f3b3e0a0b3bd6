import wrapAnsi from 'wrap-ansi';
import type { Ground, Line, Span } from '../story/line.js';
import { halvesOf, partsOfHalf } from '../story/line-parts.js';
import { breakClusters } from './break-clusters.js';
import { cellsOf } from './cells.js';
import { divided, halfWidths } from './columns.js';
import { breakLongWords } from './long-words.js';
import type { Theme } from './theme.js';

/** Room for text below which a hanging indent would waste the row. */
const MIN_ROOM = 10;

/** What a row stands on where its words stand on something else. */
const BELOW: Readonly<Record<Ground, Ground>> = {
  added: 'added',
  removed: 'removed',
  'added-word': 'added',
  'removed-word': 'removed',
};

/** A line as the terminal gets it. */
export function dressLine(line: Line, theme: Theme): string {
  return line.map(span => dressSpan(span, theme)).join('');
}

function dressSpan({ text, tone, ground }: Span, theme: Theme): string {
  return ground === undefined || tone === 'hidden' || tone === 'match'
    ? theme[tone](text)
    : theme.on[ground](text, tone);
}

/**
 * A line as rows of at most `width` cells (2 or more, 5 where there are halves: no wide character fits into less).
 * What stands up to the last gutter span is not repeated: the rows that follow are indented by it.
 * The halves of a line with a divider are wrapped each by itself; what stands on a ground fills its row with it.
 */
export function wrapLine(line: Line, width: number, theme: Theme): string[] {
  return wrapHow(line, { width, theme, isProse: false });
}

/** As {@link wrapLine}, for sentences: a blank at which a row ends is not at the beginning of the next. */
export function wrapProse(line: Line, width: number, theme: Theme): string[] {
  return wrapHow(line, { width, theme, isProse: true });
}

/** Lines for people, each row with its line feed; without a width, a line is one row. */
export function printed(lines: readonly Line[], theme: Theme, width?: number): string {
  const rowsOf = (line: Line) =>
    width === undefined ? [dressLine(line, theme)] : wrapProse(line, width, theme);
  return lines
    .flatMap(rowsOf)
    .map(row => `${row}\n`)
    .join('');
}

interface How {
  readonly width: number;
  readonly theme: Theme;
  readonly isProse: boolean;
}

function wrapHow(line: Line, how: How): string[] {
  const { width, theme } = how;
  const { halves, divider } = halvesOf(line);
  const [old = [], now = []] = halves;
  if (!divider) return wrapWhole(old, how);
  const [left, right] = halfWidths(width, cellsOf(divider.text));
  const columns = [
    wrapWhole(old, { ...how, width: left }),
    wrapWhole(now, { ...how, width: right }),
  ] as const;
  const height = Math.max(columns[0].length, columns[1].length);
  return divided(...columns, { left, divider: dressSpan(divider, theme), height });
}

function wrapWhole(half: Line, how: How): string[] {
  const { width, theme } = how;
  const { gutter, body } = partsOfHalf(half);
  const hung = dressLine(gutter, theme);
  const indent = cellsOf(hung);
  if (width - indent < MIN_ROOM) return wrap(half, how);
  const rows = wrap(body, { ...how, width: width - indent });
  return rows.map((row, index) => (index === 0 ? hung : ' '.repeat(indent)) + row);
}

function wrap(line: Line, how: How): string[] {
  const { width, theme } = how;
  const rows = wrapRows(line, how);
  const ground = line.find(span => span.ground !== undefined)?.ground;
  // Blanks that nobody sees would only be in the way of whoever copies a row.
  if (ground === undefined || theme.on[ground](' ', 'plain') === ' ') return rows;
  const fill = (row: string) => ' '.repeat(Math.max(0, width - cellsOf(row)));
  return rows.map(row => row + theme.on[BELOW[ground]](fill(row), 'plain'));
}

function wrapRows(line: Line, how: How): string[] {
  const cellsBefore = (text: string) => cellsOf(wrapped(`${text}.`, how).at(-1) ?? '') - 1;
  return breakLongWords(line, how.width, cellsBefore).flatMap(piece => wrapPiece(piece, how));
}

function wrapPiece(line: Line, how: How): string[] {
  const { width, theme } = how;
  const dressed = dressLine(line, theme);
  if (fits(line, width)) return [dressed];
  const rows = wrapped(dressed, how);
  if (rows.every(row => cellsOf(row) <= width)) return rows;
  return dressLine(breakClusters(line, width), theme).split('\n');
}

function wrapped(text: string, { width, isProse }: How): string[] {
  return wrapAnsi(text, width, { hard: true, trim: isProse }).split('\n');
}

/** Most lines do; to measure one takes a tenth of what it takes to wrap it. A much longer one is not even measured. */
function fits(line: Line, width: number): boolean {
  const text = line.map(span => span.text).join('');
  return text.length <= 2 * width && !text.includes('\n') && cellsOf(text) <= width;
}
