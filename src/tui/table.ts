import { type Line, type Span, say } from '../render/line.js';
import { cutLine, fitLine, widthOf } from '../render/terminal/theme.js';

/** One row: its cells, and its state with a mark, which is last and takes the rest of the width. */
export interface Row<Name extends string> {
  readonly mark: Span;
  readonly cells: Readonly<Record<Name | 'state', Line>>;
  /** What it says changes as time goes on. */
  readonly isRunning: boolean;
}

export interface Column<Name extends string> {
  readonly name: Name;
  readonly title: string;
  /** The most cells. */
  readonly most: number;
}

export interface Table<Name extends string> {
  readonly columns: readonly Column<Name>[];
  /** The columns that a narrow table drops, first to last; one that is named twice shrinks first. */
  readonly dispensable: readonly Name[];
}

const STATE = { title: 'STATE', least: 18, most: 40 };
/** A narrower column says nothing. */
const LEAST = 16;
const GAP = 2;
const CURSOR = '❯ ';

/** Columns that every list of calls has. */
export const CALL_COLUMNS = {
  time: { name: 'time', title: '   TIME', most: 10 },
  operation: { name: 'operation', title: 'OPERATION', most: 24 },
  args: { name: 'args', title: 'ARGUMENTS', most: 60 },
  id: { name: 'id', title: 'ID', most: 16 },
  thread: { name: 'thread', title: 'THREAD', most: 16 },
} as const;

/** The rows as a table of `width` cells; the first line is the head. Columns that are empty in all rows are left out. */
export function tableLines<Name extends string>(
  { columns, dispensable }: Table<Name>,
  rows: readonly Row<Name>[],
  selected: Row<Name> | undefined,
  width: number,
): readonly Line[] {
  const used = columns.filter(({ name }) => rows.some(({ cells }) => cells[name].length > 0));
  const fitting = fitColumns(
    used.map(column => ({ ...column, width: widthFor(column, rows) })),
    dispensable,
    width - CURSOR.length,
    stateWidth(rows),
  );
  const head = fitting.map(({ title, width }) => say(title.padEnd(width + GAP).slice(0, width + GAP), 'dim'));
  return [
    [say(' '.repeat(CURSOR.length)), ...head, say(`  ${STATE.title}`, 'dim')],
    ...rows.map(
      (row): Line => [
        say(row === selected ? CURSOR : ' '.repeat(CURSOR.length), 'running'),
        ...fitting.flatMap(({ name, width }) => [...fitLine(row.cells[name], width), say(' '.repeat(GAP))]),
        row.mark,
        say(' '),
        ...row.cells.state,
      ],
    ),
  ].map(line => cutLine(line, width));
}

interface Fitting<Name extends string> extends Column<Name> {
  readonly width: number;
}

function widthFor<Name extends string>(
  { name, title, most }: Column<Name>,
  rows: readonly Row<Name>[],
): number {
  return Math.min(most, Math.max(title.length, ...rows.map(({ cells }) => widthOf(cells[name]))));
}

function stateWidth(rows: readonly Row<never>[]): number {
  const widest = Math.max(STATE.least, ...rows.map(({ cells }) => widthOf(cells.state) + 2));
  return Math.min(STATE.most, widest);
}

/** Shrinks and drops dispensable columns until the others fit beside the state, then narrows the widest. */
function fitColumns<Name extends string>(
  columns: readonly Fitting<Name>[],
  dispensable: readonly Name[],
  width: number,
  state: number,
): readonly Fitting<Name>[] {
  const surplus = columns.reduce((sum, column) => sum + column.width + GAP, state) - width;
  if (surplus <= 0) return columns;
  const narrow = (which: Fitting<Name> | undefined, least: number) =>
    columns.map(column =>
      column === which
        ? { ...column, width: Math.max(Math.min(least, column.width), column.width - surplus) }
        : column,
    );
  const [name, ...others] = dispensable;
  if (name === undefined) return narrow(columns.toSorted((one, other) => other.width - one.width)[0], LEAST);
  const column = columns.find(each => each.name === name);
  const left =
    column && column.width > LEAST && others.includes(name)
      ? narrow(column, LEAST)
      : columns.filter(each => each !== column);
  return fitColumns(left, others, width, state);
}
