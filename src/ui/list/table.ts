import { cutLine, fitLine, widthOf } from '../../dress/cut-line.js';
import type { Line, Span } from '../../story/line.js';
import { say } from '../../story/spans.js';

/** One row, cell by cell; its state stands last, and has the rest of the width. */
export interface Row<Name extends string> {
  readonly mark: Span;
  readonly cells: Readonly<Record<Name | 'state', Line>>;
}

export interface Column<Name extends string> {
  readonly name: Name;
  readonly title: string;
  /** Cells at most. */
  readonly most: number;
}

export interface Table<Name extends string> {
  readonly columns: readonly Column<Name>[];
  /** What a narrow table does without, first things first. */
  readonly dispensable: readonly Name[];
}

/** Cells that a state has at least, and for which others make room. */
const STATE = { title: 'STATE', least: 18, most: 40 };
/** Cells below which a column says nothing. */
const LEAST = 16;
const GAP = 2;
const CURSOR = '❯ ';

/** Rows as a table of `width` cells; its first line is the head. */
export function layTable<Name extends string>(
  table: Table<Name>,
  rows: readonly Row<Name>[],
  selected: Row<Name> | undefined,
  width: number,
): readonly Line[] {
  const columns = fitting(table, rows, width - CURSOR.length);
  const head = columns.map(({ title, width }) => say(title.padEnd(width + GAP).slice(0, width + GAP), 'dim'));
  return [
    cutLine([say(' '.repeat(CURSOR.length)), ...head, say(`  ${STATE.title}`, 'dim')], width),
    ...rows.map(row => cutLine(rowLine(row, columns, row === selected), width)),
  ];
}

interface Fitting<Name extends string> extends Column<Name> {
  readonly width: number;
}

function fitting<Name extends string>(
  { columns, dispensable }: Table<Name>,
  rows: readonly Row<Name>[],
  width: number,
): readonly Fitting<Name>[] {
  const all = columns.map(column => ({ ...column, width: widthFor(column, rows) }));
  const states = rows.map(({ cells }) => widthOf(cells.state) + 2);
  const state = Math.min(STATE.most, Math.max(STATE.least, ...states));
  const gone = new Set<Name>();
  for (const name of dispensable) {
    const left = all.filter(column => !gone.has(column.name));
    if (left.reduce((sum, column) => sum + column.width + GAP, 0) + state <= width) break;
    gone.add(name);
  }
  return narrowed(
    all.filter(({ name }) => !gone.has(name)),
    width - state,
  );
}

/** What is too much for this room is taken from the widest. */
function narrowed<Name extends string>(
  columns: readonly Fitting<Name>[],
  room: number,
): readonly Fitting<Name>[] {
  const surplus = columns.reduce((sum, { width }) => sum + width + GAP, 0) - room;
  const [widest] = columns.toSorted((one, other) => other.width - one.width);
  if (!widest || surplus <= 0) return columns;
  const width = Math.max(Math.min(LEAST, widest.width), widest.width - surplus);
  return columns.map(column => (column === widest ? { ...column, width } : column));
}

function widthFor<Name extends string>(
  { name, title, most }: Column<Name>,
  rows: readonly Row<Name>[],
): number {
  return Math.min(most, Math.max(title.length, ...rows.map(({ cells }) => widthOf(cells[name]))));
}

function rowLine<Name extends string>(
  { mark, cells }: Row<Name>,
  columns: readonly Fitting<Name>[],
  isSelected: boolean,
): Line {
  return [
    say(isSelected ? CURSOR : ' '.repeat(CURSOR.length), 'running'),
    ...columns.flatMap(({ name, width }) => [...fitLine(cells[name], width), say(' '.repeat(GAP))]),
    mark,
    say(' '),
    ...cells.state,
  ];
}
