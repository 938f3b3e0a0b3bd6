import stringWidth from 'string-width';
import wrapAnsi from 'wrap-ansi';
import type { Ground, Line, Span } from '../story/line.js';
import { breakClusters } from './break-clusters.js';
import { divided } from './columns.js';
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
  return ground === undefined || tone === 'hidden' ? theme[tone](text) : theme.on[ground](text, tone);
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
  const at = line.findIndex(({ tone }) => tone === 'divider');
  const divider = line[at];
  return divider ? wrapHalves(line, at, divider, how) : wrapWhole(line, how);
}

function wrapHalves(line: Line, at: number, divider: Span, how: How): string[] {
  const { width, theme } = how;
  const room = width - stringWidth(divider.text);
  const left = Math.floor(room / 2);
  const halves = [
    wrapWhole(line.slice(0, at), { ...how, width: left }),
    wrapWhole(line.slice(at + 1), { ...how, width: room - left }),
  ] as const;
  const height = Math.max(halves[0].length, halves[1].length);
  return divided(...halves, { left, divider: dressSpan(divider, theme), height });
}

function wrapWhole(line: Line, how: How): string[] {
  const { width, theme } = how;
  const bodyStart = line.findLastIndex(({ tone }) => tone === 'gutter') + 1;
  const gutter = dressLine(line.slice(0, bodyStart), theme);
  const indent = stringWidth(gutter);
  if (width - indent < MIN_ROOM) return wrap(line, how);
  const rows = wrap(line.slice(bodyStart), { ...how, width: width - indent });
  return rows.map((row, index) => (index === 0 ? gutter : ' '.repeat(indent)) + row);
}

function wrap(line: Line, how: How): string[] {
  const { width, theme } = how;
  const rows = wrapRows(line, how);
  const ground = line.find(span => span.ground !== undefined)?.ground;
  // Blanks that nobody sees would only be in the way of whoever copies a row.
  if (ground === undefined || theme.on[ground](' ', 'plain') === ' ') return rows;
  const fill = (row: string) => ' '.repeat(Math.max(0, width - stringWidth(row)));
  return rows.map(row => row + theme.on[BELOW[ground]](fill(row), 'plain'));
}

function wrapRows(line: Line, { width, theme, isProse }: How): string[] {
  const rows = wrapAnsi(dressLine(line, theme), width, { hard: true, trim: isProse }).split('\n');
  if (rows.every(row => stringWidth(row) <= width)) return rows;
  return dressLine(breakClusters(line, width), theme).split('\n');
}
