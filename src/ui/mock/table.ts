import type { Line } from '../../story/line.js';
import type { CallColumn, CallRow } from '../../story/tool-calls/index.js';
import { CALL_COLUMNS } from '../calls/columns.js';
import { layTable, type Table } from '../list/table.js';

type Name = Exclude<CallColumn, 'state'>;

const TABLE: Table<Name> = {
  columns: [...CALL_COLUMNS, { name: 'answeredBy', title: 'ANSWERED BY', most: 22 }],
  dispensable: ['thread', 'id', 'answeredBy', 'time'],
};

/** Calls as a table of `width` cells; its first line is the head. */
export function tableLines(
  rows: readonly CallRow[],
  selected: CallRow | undefined,
  width: number,
): readonly Line[] {
  return layTable(TABLE, rows, selected, width);
}
