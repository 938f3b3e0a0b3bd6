import type { Line } from '../../story/line.js';
import type { SessionCallRow, SessionColumn } from '../../story/session/call-row.js';
import { layTable, type Table } from '../list/table.js';

const columns: Table<SessionColumn>['columns'] = [
  { name: 'time', title: '   TIME', most: 10 },
  { name: 'session', title: 'SESSION', most: 16 },
  { name: 'tool', title: 'TOOL', most: 24 },
  { name: 'args', title: 'ARGUMENTS', most: 36 },
  { name: 'id', title: 'ID', most: 16 },
];

/** The calls of one session have no use for a column of its id. */
const OF_ONE: Table<SessionColumn> = {
  columns: columns.filter(({ name }) => name !== 'session'),
  dispensable: ['time', 'id', 'args'],
};
const OF_MANY: Table<SessionColumn> = { columns, dispensable: ['id', 'args', 'time', 'session'] };

/** Calls of agent sessions as a table of `width` cells; its first line is the head. */
export function sessionTable(
  rows: readonly SessionCallRow[],
  selected: SessionCallRow | undefined,
  width: number,
  { ofOne }: { readonly ofOne: boolean },
): readonly Line[] {
  return layTable(ofOne ? OF_ONE : OF_MANY, rows, selected, width);
}
