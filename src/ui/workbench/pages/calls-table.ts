import type { ExchangeColumn, ExchangeRow } from '../../../story/calls/index.js';
import type { Line } from '../../../story/line.js';
import { CALL_COLUMNS } from '../../calls/columns.js';
import { layTable, type Table } from '../../list/table.js';

type Name = Exclude<ExchangeColumn, 'state'>;

const TABLE: Table<Name> = {
  columns: CALL_COLUMNS,
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
