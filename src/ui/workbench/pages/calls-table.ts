import type { ExchangeColumn, ExchangeRow } from '../../../story/calls/index.js';
import type { Line } from '../../../story/line.js';
import { layTable, type Table } from '../../list/table.js';

type Name = Exclude<ExchangeColumn, 'state'>;

const TABLE: Table<Name> = {
  columns: [
    { name: 'time', title: '   TIME', most: 10 },
    { name: 'operation', title: 'OPERATION', most: 24 },
    { name: 'id', title: 'ID', most: 16 },
    { name: 'thread', title: 'THREAD', most: 16 },
  ],
  dispensable: ['thread', 'id', 'time'],
};

/** Calls as a table of `width` cells; its first line is the head. */
export function callsTable(
  rows: readonly ExchangeRow[],
  selected: ExchangeRow | undefined,
  width: number,
): readonly Line[] {
  return layTable(TABLE, rows, selected, width);
}
