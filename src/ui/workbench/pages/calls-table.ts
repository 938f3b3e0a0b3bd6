import type { ExchangeColumn, ExchangeRow } from '../../../story/calls/index.js';
import type { Line } from '../../../story/line.js';
import { CALL_COLUMNS } from '../../calls/columns.js';
import { type Column, layTable } from '../../list/table.js';

type Name = Exclude<ExchangeColumn, 'state'>;

const [TIME, OPERATION, ...OTHERS] = CALL_COLUMNS;
const COLUMNS: readonly Column<Name>[] = [
  TIME,
  OPERATION,
  { name: 'server', title: 'SERVER', most: 24 },
  ...OTHERS,
  { name: 'broken', title: 'BROKEN', most: 12 },
];
const DISPENSABLE: readonly Name[] = ['thread', 'id', 'time', 'server'];
/** Where there is nothing in them, they are left out. */
const SELDOM: ReadonlySet<Name> = new Set<Name>(['server', 'broken']);

/** Calls as a table of `width` cells; its first line is the head. */
export function callsTable(
  rows: readonly ExchangeRow[],
  selected: ExchangeRow | undefined,
  width: number,
): readonly Line[] {
  const isThere = (name: Name) => rows.some(({ cells }) => cells[name].length > 0);
  const columns = COLUMNS.filter(({ name }) => !SELDOM.has(name) || isThere(name));
  const dispensable = DISPENSABLE.filter(name => columns.some(column => column.name === name));
  return layTable({ columns, dispensable }, rows, selected, width);
}
