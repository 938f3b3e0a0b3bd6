import type { ExchangeColumn, ExchangeRow } from '../../../story/calls/index.js';
import type { Line } from '../../../story/line.js';
import { CALL_COLUMNS } from '../../calls/columns.js';
import { layTable, type Table } from '../../list/table.js';

type Name = Exclude<ExchangeColumn, 'state'>;

const [TIME, OPERATION, ...OTHERS] = CALL_COLUMNS;
const SERVER = { name: 'server', title: 'SERVER', most: 24 } as const;

const OF_ONE: Table<Name> = {
  columns: CALL_COLUMNS,
  dispensable: ['thread', 'id', 'time'],
};

const OF_SEVERAL: Table<Name> = {
  columns: [TIME, OPERATION, SERVER, ...OTHERS],
  dispensable: ['thread', 'id', 'time', 'server'],
};

/** Calls as a table of `width` cells; its first line is the head. @param hasServers whether it says which server each was made by */
export function callsTable(
  rows: readonly ExchangeRow[],
  selected: ExchangeRow | undefined,
  width: number,
  hasServers: boolean,
): readonly Line[] {
  return layTable(hasServers ? OF_SEVERAL : OF_ONE, rows, selected, width);
}
