import { divided, fitRows } from '../../dress/columns.js';
import { cutLine } from '../../dress/cut-line.js';
import { dressLine } from '../../dress/dress.js';
import type { Theme } from '../../dress/theme.js';
import type { ToolCall } from '../../exchange/tool-call.js';
import type { Line } from '../../story/line.js';
import { say } from '../../story/spans.js';
import { callRow, type Tally } from '../../story/tool-calls/index.js';
import type { Size } from '../terminal.js';
import { keyLines, statusLine } from './foot.js';
import { emptyLines, headLines, type ShownTool } from './head.js';
import { type Details, type Reading, reading, wrapLines } from './reading.js';
import { tableLines } from './table.js';
import { selectedIndex, type View } from './view.js';

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

/** What is drawn: dressed rows, cut to the terminal, and one row below its height: what scrolls cannot be wiped any more. */
export interface Frame {
  readonly rows: readonly string[];
  /** It changes as time goes on. */
  readonly isRunning: boolean;
  /** How many rows of details are seen, and how far they can be scrolled. */
  readonly height: number;
  readonly most: number;
}

/** What frames are drawn with. */
export interface Pencil {
  readonly theme: Theme;
  readonly details: Details;
}

/** From here on the details stand beside the list. */
const WIDE = 120;
const DIVIDER = ' │ ';
/** Of the width, where both stand side by side. */
const LIST_SHARE = 0.58;
/** Rows below which blank rows are a waste, and a list and details together too. */
const ROOMY = 16;
const MAX_NOTICES = 4;

/** Lays the scene out. */
export function frameOf(scene: Scene, { columns, rows }: Size, pencil: Pencil): Frame {
  const { tool, tally, isPaused, view, notices } = scene;
  const height = Math.max(1, rows - 1);
  const draw = (line: Line) => dressLine(cutLine(line, columns), pencil.theme);
  const blank = height >= ROOMY ? [''] : [];
  const head = [...headLines(tool, tally, isPaused).map(draw), ...blank];
  const said = height < ROOMY ? notices.slice(-1).map(draw) : noticeRows(notices, columns, pencil.theme);
  const foot = [...blank, ...said, draw(statusLine(view, isPaused, columns))];
  const left = Math.max(0, height - head.length - foot.length);
  const body = bodyOf(scene, { columns, rows: left }, pencil);
  const filled = [...body.rows, ...Array.from({ length: Math.max(0, left - body.rows.length) }, () => '')];
  return { ...body, rows: [...head, ...filled.slice(0, left), ...foot].slice(0, height) };
}

function noticeRows(notices: readonly Line[], columns: number, theme: Theme): readonly string[] {
  const more = (count: number) => dressLine([say(`… ${count} more rows`, 'dim')], theme);
  return fitRows(wrapLines(notices, columns, theme), MAX_NOTICES, more);
}

function bodyOf(scene: Scene, size: Size, pencil: Pencil): Frame {
  const { calls, tool, view } = scene;
  const { columns, rows } = size;
  const { theme } = pencil;
  if (view.page === 'help')
    return page(reading(wrapLines(keyLines(), columns, theme), view.scroll, rows, theme), rows);
  if (calls.length === 0) return still(wrapLines(emptyLines(tool), columns, theme).slice(0, rows));
  if (view.page === 'details') return page(detailsOf(scene, size, pencil), rows);
  if (columns >= WIDE) return beside(scene, size, pencil);
  return rows < ROOMY - 6
    ? { ...listOf(scene, size, theme), height: 0, most: 0 }
    : below(scene, size, pencil);
}

function beside(scene: Scene, { columns, rows }: Size, pencil: Pencil): Frame {
  const width = Math.floor(columns * LIST_SHARE);
  const right = columns - width - DIVIDER.length;
  const list = listOf(scene, { columns: width, rows }, pencil.theme);
  const details = detailsOf(scene, { columns: right, rows }, pencil);
  const divider = pencil.theme.dim(DIVIDER);
  const whole = divided(list.rows, details.rows, { left: width, divider, height: rows });
  return { rows: whole, isRunning: list.isRunning, height: rows, most: details.most };
}

/** The list takes what it needs, up to two fifths. */
function below(scene: Scene, { columns, rows }: Size, pencil: Pencil): Frame {
  const forList = Math.min(scene.calls.length + 1, Math.max(4, Math.floor(rows * 0.4)));
  const height = rows - forList - 1;
  const list = listOf(scene, { columns, rows: forList }, pencil.theme);
  const details = detailsOf(scene, { columns, rows: height }, pencil);
  const rule = pencil.theme.dim('─'.repeat(columns));
  return {
    rows: [...list.rows, rule, ...details.rows],
    isRunning: list.isRunning,
    height,
    most: details.most,
  };
}

/** Only the calls that are seen are looked at: there may be thousands. */
function listOf({ calls, view, now, isPaused }: Scene, { columns, rows }: Size, theme: Theme) {
  const keys = calls.map(({ key }) => key);
  const index = selectedIndex(view, keys);
  const height = Math.max(1, rows - 1);
  const from = Math.max(0, Math.min(calls.length - height, index - Math.floor(height / 2)));
  const seen = calls
    .slice(from, from + height)
    .map((call, row) => callRow(call, now, from + row === index, isPaused));
  const lines = tableLines(seen, seen[index - from], columns);
  return {
    rows: lines.slice(0, rows).map(line => dressLine(line, theme)),
    isRunning: seen.some(({ isRunning }) => isRunning),
  };
}

function detailsOf({ calls, view }: Scene, { columns, rows }: Size, { details, theme }: Pencil): Reading {
  const call =
    calls[
      selectedIndex(
        view,
        calls.map(({ key }) => key),
      )
    ];
  return reading(details.rowsOf(call, columns), view.scroll, rows, theme);
}

function page({ rows, most }: Reading, height: number): Frame {
  return { rows, most, height, isRunning: false };
}

function still(rows: readonly string[]): Frame {
  return { rows, most: 0, height: 0, isRunning: false };
}
