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

/** Cells that a state is not to go below. */
const STATE = { title: 'STATE', least: 18, most: 28 };
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
  const most = Math.floor(width / 2);
  return all
    .filter(({ name }) => !gone.has(name))
    .map(column => ({ ...column, width: Math.min(most, column.width) }));
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
