import type { Theme } from '../../dress/theme.js';
import type { ToolCall } from '../../exchange/tool-call.js';
import type { Line } from '../../story/line.js';
import { callRow, type Tally } from '../../story/tool-calls/index.js';
import { keyLines, statusLine } from '../list/foot.js';
import { type Frame, type Listing, listFrame } from '../list/frame.js';
import type { View } from '../list/view.js';
import type { Details } from '../scrolled-rows.js';
import type { Size } from '../terminal.js';
import { emptyLines, headLines, type ShownTool } from './head.js';
import { tableLines } from './table.js';

export type { Frame } from '../list/frame.js';

/** Everything that there is to see. */
export interface Scene {
  readonly tool: ShownTool;
  /** Those that are remembered, oldest first. */
  readonly calls: readonly ToolCall[];
  readonly tally: Tally;
  readonly view: View;
  readonly isPaused: boolean;
  readonly notices: readonly Line[];
  /** Ms since the start. */
  readonly now: number;
}

/** What frames are drawn with. */
export interface Pencil {
  readonly theme: Theme;
  readonly details: Details;
}

/** Lays the scene out. */
export function frameOf(scene: Scene, size: Size, { theme, details }: Pencil): Frame {
  const { tool, calls, tally, isPaused, view, notices } = scene;
  const listing: Listing = {
    head: headLines(tool, tally, isPaused),
    empty: emptyLines(tool),
    help: keyLines(),
    notices,
    view,
    keys: calls.map(({ key }) => key),
    foot: columns => statusLine(view, isPaused, columns),
    table: (seen, columns) => tableOf(scene, seen, columns),
    details: (index, columns) => details.rowsOf(calls[index], columns),
  };
  return listFrame(listing, size, theme);
}

function tableOf(
  { calls, now, isPaused }: Scene,
  { from, to, selected }: Parameters<Listing['table']>[0],
  columns: number,
): ReturnType<Listing['table']> {
  const seen = calls
    .slice(from, to)
    .map((call, row) => callRow(call, now, from + row === selected, isPaused));
  return {
    lines: tableLines(seen, seen[selected - from], columns),
    isRunning: seen.some(({ isRunning }) => isRunning),
  };
}
