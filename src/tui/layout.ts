import { type Line, quote, type Span, say } from '../render/line.js';
import { cutLine, fitLine, type Theme, widthOf, wrapLine } from '../render/terminal/theme.js';

export const DIVIDER = ' │ ';

export function wrapLines(lines: readonly Line[], width: number, theme: Theme): string[] {
  return lines.flatMap(line => wrapLine(line, width, theme));
}

/** Cuts or pads to `height` rows. */
export function filled(rows: readonly string[], height: number): readonly string[] {
  const missing = Math.max(0, height - rows.length);
  return [...rows.slice(0, height), ...Array.from({ length: missing }, () => '')];
}

interface Choice {
  readonly text: string;
  readonly isChosen: boolean;
  readonly most?: number;
}

/** The selected choice is in brackets, so that it is visible without colours. */
export function choicesLine(choices: readonly Choice[]): Line {
  return choices.flatMap(({ text, isChosen, most = Number.POSITIVE_INFINITY }) =>
    isChosen
      ? [say('[', 'running'), ...cutLine(quote(text, 'title'), most), say('] ', 'running')]
      : [say(' '), ...cutLine(quote(text, 'dim'), most), say('  ')],
  );
}

/** A table row: its cells, then its state with a mark, which takes the rest of the width. */
interface Row<Name extends string> {
  readonly mark: Span;
  readonly cells: Readonly<Record<Name | 'state', Line>>;
  /** The row changes as time passes. */
  readonly isRunning: boolean;
}

interface Column<Name extends string> {
  readonly name: Name;
  readonly title: string;
  readonly most: number;
}

export interface Table<Name extends string> {
  readonly columns: readonly Column<Name>[];
  /** The columns that a narrow table drops, in order; one that is listed twice shrinks first. */
  readonly dispensable: readonly Name[];
}

const STATE = { title: 'STATE', least: 18, most: 40 };
/** Minimum width of a column that shrinks, in cells. */
const LEAST = 16;
const GAP = 2;
export const CURSOR = '❯ ';

export const CALL_COLUMNS = {
  time: { name: 'time', title: '   TIME', most: 10 },
  operation: { name: 'operation', title: 'OPERATION', most: 24 },
  args: { name: 'args', title: 'ARGUMENTS', most: 60 },
  id: { name: 'id', title: 'ID', most: 16 },
  thread: { name: 'thread', title: 'THREAD', most: 16 },
} as const;

/** A table of `width` cells; the first line is the head. Columns that are empty in all rows are left out. */
export function tableLines<Name extends string>(
  { columns, dispensable }: Table<Name>,
  rows: readonly Row<Name>[],
  selected: Row<Name> | undefined,
  width: number,
): readonly Line[] {
  const widest = (name: Name | 'state') => Math.max(0, ...rows.map(({ cells }) => widthOf(cells[name])));
  const used = columns
    .filter(({ name }) => widest(name) > 0)
    .map(column => ({
      ...column,
      width: Math.min(column.most, Math.max(column.title.length, widest(column.name))),
    }));
  const state = Math.min(STATE.most, Math.max(STATE.least, widest('state') + 2));
  const fitting = fitColumns(used, dispensable, width - CURSOR.length - state);
  const head = fitting.map(column =>
    say(column.title.padEnd(column.width + GAP).slice(0, column.width + GAP), 'dim'),
  );
  const lines = rows.map(
    (row): Line => [
      say(row === selected ? CURSOR : ' '.repeat(CURSOR.length), 'running'),
      ...fitting.flatMap(({ name, width }) => [...fitLine(row.cells[name], width), say(' '.repeat(GAP))]),
      row.mark,
      say(' '),
      ...row.cells.state,
    ],
  );
  const first = [say(' '.repeat(CURSOR.length)), ...head, say(`  ${STATE.title}`, 'dim')];
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
  const canShrink = column && column.width > LEAST && (name === undefined || others.includes(name));
  const shrunk = (each: Fitting<Name>) => ({ ...each, width: Math.max(LEAST, each.width - surplus) });
  const left = canShrink
    ? columns.map(each => (each === column ? shrunk(each) : each))
    : columns.filter(each => each !== column || name === undefined);
  return name === undefined ? left : fitColumns(left, others, width);
}
