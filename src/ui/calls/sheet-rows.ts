import { cellsOf } from '../../dress/cells.js';
import { padEnd } from '../../dress/columns.js';
import { cutLine, widthOf } from '../../dress/cut-line.js';
import { dressLine } from '../../dress/dress.js';
import type { Theme } from '../../dress/theme.js';
import type { Line } from '../../story/line.js';
import { say } from '../../story/spans.js';
import { type Drawn, drawReading, type Reading } from '../document/index.js';
import { filled } from '../split.js';
import type { Size } from '../terminal.js';
import type { Part, Sheet } from './sheets/sheet.js';
import { DIVIDER, type Slots } from './slots.js';

export interface SheetScene {
  readonly sheet: Sheet;
  readonly slots: Slots;
  readonly focus: 'list' | number;
  readonly readings: readonly Reading[];
}

/** A part as it is drawn: its title, and what is seen below it. */
interface DrawnPart extends Pick<Drawn, 'rows' | 'isAtEnd'> {
  readonly index: number;
  readonly part: Part;
}

/** The parts of a sheet that are seen, each with its title and how far it is read. */
export function drawnParts(
  { sheet, slots, focus, readings }: SheetScene,
  theme: Theme,
): readonly DrawnPart[] {
  return slots.slots.flatMap(slot => {
    const { index, columns, rows: height } = slot;
    const part = sheet.parts[index];
    const reading = readings[index];
    if (!part || !reading) return [];
    const { rows, status, isAtEnd } = drawReading(reading, part.document, { width: columns, height }, theme);
    const title = titleLine(part, { isFocused: focus === index, status }, columns);
    return [{ index, part, isAtEnd, rows: [dressLine(title, theme), ...filled(rows, height)] }];
  });
}

/** Parts where they stand. */
export function sheetRows(
  parts: readonly DrawnPart[],
  { slots, isBeside }: Slots,
  size: Size,
  theme: Theme,
): readonly string[] {
  if (!isBeside)
    return filled(
      parts.flatMap(({ rows }) => rows),
      size.rows,
    );
  return Array.from({ length: size.rows }, (_, row) =>
    parts
      .map(({ rows }, index) => padEnd(rows[row] ?? '', slots[index]?.columns ?? 0))
      .join(theme.dim(DIVIDER))
      .trimEnd(),
  );
}

/** Focus is seen without colour too. */
function titleLine(
  { title }: Part,
  { isFocused, status }: { readonly isFocused: boolean; readonly status: string },
  columns: number,
): Line {
  const mark = say(isFocused ? '❯ ' : '  ', 'running');
  const room = columns - cellsOf(status) - 4;
  if (room < 12) return cutLine([mark, ...title], columns);
  const left = cutLine([mark, ...title], room);
  return [
    ...left,
    say(' '.repeat(Math.max(2, columns - widthOf(left) - cellsOf(status)))),
    say(status, 'dim'),
  ];
}
