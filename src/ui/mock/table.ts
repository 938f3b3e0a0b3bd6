import type { Line } from '../../story/line.js';
import type { CallColumn, CallRow } from '../../story/tool-calls/index.js';
import { layTable, type Table } from '../list/table.js';

type Name = Exclude<CallColumn, 'state'>;

const TABLE: Table<Name> = {
  columns: [
    { name: 'time', title: '   TIME', most: 10 },
    { name: 'operation', title: 'OPERATION', most: 24 },
    { name: 'id', title: 'ID', most: 16 },
    { name: 'thread', title: 'THREAD', most: 16 },
    { name: 'answeredBy', title: 'ANSWERED BY', most: 22 },
  ],
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
