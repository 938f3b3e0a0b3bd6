import { callRow } from '../../story/tool-calls/index.js';
import type { CallsScene, CallsShares, SeenCalls, SeenTable } from '../calls/page.js';
import { emptyLines, type ShownTool } from './head.js';
import type { Looking } from './looking.js';
import type { State } from './state.js';
import { tableLines } from './table.js';

/** The rows of a list say much; who reads has the room. */
export const SHARES: CallsShares = {
  list: { wide: 120, share: 0.58 },
  reading: { wide: 150, share: 0.42 },
};

/** The calls of a mock, as they are looked at. @param now ms since the start */
export function callsSceneOf(
  { calls: { focus }, isPaused }: State,
  { calls, index }: Looking,
  tool: ShownTool,
  now: number,
): Omit<CallsScene, 'sheet' | 'tabs'> {
  return {
    count: calls.length,
    selected: index,
    focus,
    shares: SHARES,
    empty: emptyLines(tool),
    table: (seen, columns) => tableOf(calls, seen, columns, { now, isPaused }),
  };
}

function tableOf(
  calls: Looking['calls'],
  { from, to, selected }: SeenCalls,
  columns: number,
  { now, isPaused }: { readonly now: number; readonly isPaused: boolean },
): SeenTable {
  const rows = calls
    .slice(from, to)
    .map((call, row) => callRow(call, now, from + row === selected, isPaused));
  return {
    lines: tableLines(rows, rows[selected - from], columns),
    isRunning: rows.some(({ isRunning }) => isRunning),
  };
}
