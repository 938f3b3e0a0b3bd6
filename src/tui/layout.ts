import type { CallView } from '../render/calls.js';
import { type Line, quote, type Span, say } from '../render/line.js';
import { cutLine, fitLine, widthOf } from '../render/terminal/fit.js';

export const DIVIDER = ' │ ';

export interface Choice {
  readonly text: string;
  readonly isChosen: boolean;
  readonly max?: number;
}

/** The selected choice is in brackets, so that it is visible without colours. */
export function choicesLine(choices: readonly Choice[]): Line {
  return choices.flatMap(({ text, isChosen, max = Number.POSITIVE_INFINITY }) =>
    isChosen
      ? [say('[', 'running'), ...cutLine(quote(text, 'title'), max), say('] ', 'running')]
      : [say(' '), ...cutLine(quote(text, 'dim'), max), say('  ')],
  );
}

interface Column<Name extends string> {
  readonly name: Name;
  readonly title: string;
  readonly max: number;
}

export interface Table<Name extends string> {
  readonly columns: readonly Column<Name>[];
  /** The columns that a narrow table drops, in order; one that is listed twice shrinks first. */
  readonly dispensable: readonly Name[];
}

const STATE = { title: 'STATE', min: 18, max: 40 };
/** Minimum width of a column that shrinks, in cells. */
const MIN_COLUMN = 16;
const GAP = 2;

/** Marks the selected row, visible without colours. */
export function cursorMark(isSelected: boolean): Span {
  return say(isSelected ? '❯ ' : '  ', 'running');
}

const CURSOR_WIDTH = 2;

export const CALL_COLUMNS = {
  time: { name: 'time', title: '   TIME', max: 10 },
  operation: { name: 'operation', title: 'OPERATION', max: 24 },
  args: { name: 'args', title: 'ARGUMENTS', max: 60 },
  id: { name: 'id', title: 'ID', max: 16 },
  thread: { name: 'thread', title: 'THREAD', max: 16 },
} as const;

/**
 * A table of `width` cells; the first line is the head. The state takes the rest of the width. Columns that are empty in all rows are left
 * out.
 */
export function tableLines<Name extends string>(
  { columns, dispensable }: Table<Name>,
  rows: readonly CallView<Name>[],
  selected: CallView<Name> | undefined,
  width: number,
): readonly Line[] {
  const widest = (name: Name | 'state') => Math.max(0, ...rows.map(({ cells }) => widthOf(cells[name])));
  const used = columns
    .filter(({ name }) => widest(name) > 0)
    .map(column => ({
      ...column,
      width: Math.min(column.max, Math.max(column.title.length, widest(column.name))),
    }));
  const state = Math.min(STATE.max, Math.max(STATE.min, widest('state') + 2));
  const fitting = fitColumns(used, dispensable, width - CURSOR_WIDTH - state);
  const head = fitting.map(column =>
    say(column.title.padEnd(column.width + GAP).slice(0, column.width + GAP), 'dim'),
  );
  const lines = rows.map(
    (row): Line => [
      cursorMark(row === selected),
      ...fitting.flatMap(({ name, width }) => [...fitLine(row.cells[name], width), say(' '.repeat(GAP))]),
      row.mark,
      say(' '),
      ...row.cells.state,
    ],
  );
  const first = [say(' '.repeat(CURSOR_WIDTH)), ...head, say(`  ${STATE.title}`, 'dim')];
  return [first, ...lines].map(line => cutLine(line, width));
}

interface Fitting<Name extends string> extends Column<Name> {
  readonly width: number;
}

/** Shrinks and drops dispensable columns until the others fit, then narrows the widest. */
function fitColumns<Name extends string>(
  columns: readonly Fitting<Name>[],
  [name, ...others]: readonly Name[],
  width: number,
): readonly Fitting<Name>[] {
  const surplus = columns.reduce((sum, column) => sum + column.width + GAP, 0) - width;
  if (surplus <= 0) return columns;
  const widest = columns.toSorted((one, other) => other.width - one.width)[0];
  const column = name === undefined ? widest : columns.find(each => each.name === name);
  const canShrink = column && column.width > MIN_COLUMN && (name === undefined || others.includes(name));
  const shrunk = (each: Fitting<Name>) => ({ ...each, width: Math.max(MIN_COLUMN, each.width - surplus) });
  const left = canShrink
    ? columns.map(each => (each === column ? shrunk(each) : each))
    : columns.filter(each => each !== column || name === undefined);
  return name === undefined ? left : fitColumns(left, others, width);
}

/** A sentence about keys: every second piece is a key. */
export function keysLine(...pieces: readonly string[]): Line {
  return pieces.map((piece, index) => say(piece, index % 2 === 0 ? 'dim' : 'title'));
}

/** The first line of a description, shortened to a row: descriptions may be very long. */
export function firstLineOf(text: string): string {
  return text.slice(0, 400).split('\n', 1)[0] ?? '';
}
