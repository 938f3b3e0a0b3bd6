import stringWidth from 'string-width';
import { padEnd } from '../../dress/columns.js';
import { cutLine, widthOf } from '../../dress/cut-line.js';
import { dressLine } from '../../dress/dress.js';
import type { Theme } from '../../dress/theme.js';
import type { Line } from '../../story/line.js';
import { say } from '../../story/spans.js';
import { drawReading, type Reading } from '../document/index.js';
import { filled } from '../split.js';
import type { Size } from '../terminal.js';
import type { Part, Sheet } from './sheets/sheet.js';
import { DIVIDER, type Slot, type Slots } from './slots.js';

export interface SheetScene {
  readonly sheet: Sheet;
  readonly slots: Slots;
  readonly focus: 'list' | number;
  readonly readings: readonly Reading[];
}

/** The parts of a sheet, each with its title and how far it is read. */
export function sheetRows(scene: SheetScene, size: Size, theme: Theme): readonly string[] {
  const { slots, isBeside } = scene.slots;
  const columns = slots.map(slot => partRows(scene, slot, theme));
  if (!isBeside) return filled(columns.flat(), size.rows);
  return Array.from({ length: size.rows }, (_, row) =>
    columns
      .map((rows, index) => padEnd(rows[row] ?? '', slots[index]?.columns ?? 0))
      .join(theme.dim(DIVIDER))
      .trimEnd(),
  );
}

function partRows({ sheet, focus, readings }: SheetScene, slot: Slot, theme: Theme): readonly string[] {
  const part = sheet.parts[slot.index];
  const reading = readings[slot.index];
  if (!part || !reading) return [];
  const viewport = { width: slot.columns, height: slot.rows };
  const { rows, status } = drawReading(reading, part.document, viewport, theme);
  const title = titleLine(part, { isFocused: focus === slot.index, status }, slot.columns);
  return [dressLine(title, theme), ...filled(rows, slot.rows)];
}

/** Focus is seen without colour too. */
function titleLine(
  { title }: Part,
  { isFocused, status }: { readonly isFocused: boolean; readonly status: string },
  columns: number,
): Line {
  const mark = say(isFocused ? '❯ ' : '  ', 'running');
  const room = columns - stringWidth(status) - 4;
  if (room < 12) return cutLine([mark, ...title], columns);
  const left = cutLine([mark, ...title], room);
  return [
    ...left,
    say(' '.repeat(Math.max(2, columns - widthOf(left) - stringWidth(status)))),
    say(status, 'dim'),
  ];
}
