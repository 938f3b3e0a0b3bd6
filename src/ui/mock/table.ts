import { cutLine, fitLine, widthOf } from '../../dress/cut-line.js';
import type { Line } from '../../story/line.js';
import { say } from '../../story/spans.js';
import type { CallColumn, CallRow } from '../../story/tool-calls/index.js';

interface Column {
  readonly name: CallColumn;
  readonly title: string;
  /** Cells at most. */
  readonly most: number;
}

const COLUMNS: readonly Column[] = [
  { name: 'time', title: '   TIME', most: 10 },
  { name: 'operation', title: 'OPERATION', most: 24 },
  { name: 'id', title: 'ID', most: 16 },
  { name: 'thread', title: 'THREAD', most: 16 },
  { name: 'answeredBy', title: 'ANSWERED BY', most: 22 },
];

/** What a narrow table does without, first things first. */
const DISPENSABLE: readonly CallColumn[] = ['thread', 'id', 'answeredBy', 'time'];
/** Cells that the state of a call is not to go below. */
const STATE = { title: 'STATE', least: 18, most: 28 };
const GAP = 2;
const CURSOR = '❯ ';

/** Rows as a table of `width` cells; its first line is the head. */
export function tableLines(
  rows: readonly CallRow[],
  selected: CallRow | undefined,
  width: number,
): readonly Line[] {
  const columns = fitting(rows, width - CURSOR.length);
  const head = columns.map(({ title, width }) => say(title.padEnd(width + GAP).slice(0, width + GAP), 'dim'));
  return [
    cutLine([say(' '.repeat(CURSOR.length)), ...head, say(`  ${STATE.title}`, 'dim')], width),
    ...rows.map(row => cutLine(rowLine(row, columns, row === selected), width)),
  ];
}

interface Fitting extends Column {
  readonly width: number;
}

function fitting(rows: readonly CallRow[], width: number): readonly Fitting[] {
  const all = COLUMNS.map(column => ({ ...column, width: widthFor(column, rows) }));
  const states = rows.map(({ cells }) => widthOf(cells.state) + 2);
  const state = Math.min(STATE.most, Math.max(STATE.least, ...states));
  const gone = new Set<CallColumn>();
  for (const name of DISPENSABLE) {
    const left = all.filter(column => !gone.has(column.name));
    if (left.reduce((sum, column) => sum + column.width + GAP, 0) + state <= width) break;
    gone.add(name);
  }
  const most = Math.floor(width / 2);
  return all
    .filter(({ name }) => !gone.has(name))
    .map(column => ({ ...column, width: Math.min(most, column.width) }));
}

function widthFor({ name, title, most }: Column, rows: readonly CallRow[]): number {
  return Math.min(most, Math.max(title.length, ...rows.map(({ cells }) => widthOf(cells[name]))));
}

function rowLine({ mark, cells }: CallRow, columns: readonly Fitting[], isSelected: boolean): Line {
  return [
    say(isSelected ? CURSOR : ' '.repeat(CURSOR.length), 'running'),
    ...columns.flatMap(({ name, width }) => [...fitLine(cells[name], width), say(' '.repeat(GAP))]),
    mark,
    say(' '),
    ...cells.state,
  ];
}
