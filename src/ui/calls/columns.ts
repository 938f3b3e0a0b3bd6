import type { Column } from '../list/table.js';

/** What every list of calls begins with, on whichever side. */
export const CALL_COLUMNS = [
  { name: 'time', title: '   TIME', most: 10 },
  { name: 'operation', title: 'OPERATION', most: 24 },
  { name: 'id', title: 'ID', most: 16 },
  { name: 'thread', title: 'THREAD', most: 16 },
] as const satisfies readonly Column<string>[];
