import type { History } from '../../events/history.js';
import type { View } from '../../events/threads.js';
import { type Layout, type Line, redactLine, say } from '../../render/line.js';
import { type Pane, paneLines, viewPane } from '../../render/panes.js';
import { type Step, stepLine } from '../../render/step.js';
import type { Highlighter } from '../../render/syntax.js';
import { cutLine, fitRows } from '../../render/terminal/fit.js';
import type { Palette } from '../../render/terminal/theme.js';
import { paneLayout, wrapRows } from '../../render/terminal/wrap.js';
import { memoizeByObject } from '../../util/collections.js';
import { MIN_PICKER_ROWS, type PickerState, pickerLines } from '../picker.js';
import type { Size } from '../tty.js';
import { type LiveState, type ShownPanes, shownPicker } from './state.js';
import { statusLines } from './status.js';

/** The blocks of the live view, as rows that fit the terminal. A block may be empty. */
export interface Frame {
  readonly columns: number;
  readonly steps: readonly Line[];
  readonly views: readonly Line[];
  /** Null until the call is settled. */
  readonly panes: {
    readonly isSideBySide: boolean;
    readonly width: number;
    readonly gap: number;
    readonly human: readonly Line[];
    readonly llm: readonly Line[];
  } | null;
  readonly question: { readonly picker: PickerState; readonly size: Size } | null;
}

export const EMPTY_FRAME: Frame = { columns: 0, steps: [], views: [], panes: null, question: null };

/** What is shown below the steps. */
export interface Blocks {
  /** The current activity or the user's options, directly below the steps. */
  readonly status: readonly Line[];
  readonly views: readonly Pane[];
  readonly panes: ShownPanes | null;
  readonly picker: PickerState | null;
  /** Without a highlighter, code has no colours. */
  readonly highlighter?: Highlighter | null;
}

export interface Contents extends Blocks {
  readonly steps: readonly Step[];
  readonly now: number;
}

export interface Look {
  readonly palette: Palette;
  /** Removes secrets from everything except the question to the user (threats, row 25). */
  readonly redact: (text: string) => string;
}

/** The block at the top, for a number of rows. */
interface Top {
  readonly draw: (max: number) => readonly Line[];
  readonly min: number;
}

const paneOfView = memoizeByObject((view: View): Pane => viewPane(view));

export function viewsOf({ threads }: History): readonly Pane[] {
  return [...threads.values()].flatMap(({ views }) => [...views.values()].map(paneOfView));
}

/** @param timeoutMs for the result; 0: no limit */
export function blocksOf(state: LiveState, history: History, timeoutMs = 0): Blocks {
  const { panes, highlighter } = state;
  const status = statusLines(state, history.first, timeoutMs);
  return { status, views: viewsOf(history), panes, highlighter, picker: shownPicker(state) };
}

/** A frame with the steps on top; only the latest if not all fit. */
export function frameOf(contents: Contents, size: Size, look: Look): Frame {
  const { steps, status, now } = contents;
  const lines = [...steps.slice(-Math.max(1, size.rows - 1)).map(step => stepLine(step, now)), ...status];
  const rows = wrapClean(lines, size.columns, look);
  const top = { draw: (max: number) => rows.slice(Math.max(0, rows.length - max)), min: 1 + status.length };
  return layFrame(top, contents, size, look);
}

/** Wraps lines without their secrets, which are found before a secret is wrapped. */
function wrapClean(lines: readonly Line[], width: number, { palette, redact }: Look): readonly Line[] {
  return lines.flatMap(each => wrapRows(redactLine(each, redact), width, palette));
}

/** The maximum share of the height for a question, which has priority over everything else. */
const PICKER_SHARE = 2 / 3;
const MIN_PANE_ROWS = 2;

/** A frame is one row lower than the terminal: a higher one would scroll, and rows that have scrolled out cannot be erased. */
function layFrame(top: Top, blocks: Blocks, { columns, rows }: Size, look: Look): Frame {
  const height = Math.max(0, rows - 1);
  const { views, picker, panes, highlighter = null } = blocks;
  const { human: pane = null } = panes ?? {};
  const layout = paneLayout(columns);
  const isSideBySide = layout.isSideBySide && pane !== null;
  const width = isSideBySide ? layout.width : columns;
  const draw = {
    views: (max: number) =>
      views.flatMap(view =>
        paneRows(view, { count: Math.floor(max / views.length), width: columns, highlighter }, look),
      ),
    human: (count: number) => (pane ? paneRows(pane, { count, width, highlighter }, look) : []),
    llm: (count: number) => (panes ? paneRows(panes.llm, { count, width, highlighter }, look) : []),
  };
  const beside = isSideBySide ? draw.llm(height).length : 0;
  const [forTop = 0, forViews = 0, forHuman = 0, forLlm = 0, forPicker = 0] = shareRows(height, [
    { wanted: top.draw(height).length, min: top.min, rank: 0 },
    { wanted: draw.views(height).length, min: MIN_PANE_ROWS * views.length, rank: 4 },
    { wanted: Math.max(draw.human(height).length, beside), min: MIN_PANE_ROWS, rank: 3 },
    { wanted: isSideBySide ? 0 : draw.llm(height).length, min: MIN_PANE_ROWS, rank: 2 },
    {
      wanted: picker ? pickerHeight(picker, { columns, rows: height }) : 0,
      min: Math.max(MIN_PICKER_ROWS, Math.floor(height * PICKER_SHARE)),
      rank: 1,
    },
  ]);
  const [human, llm] = [draw.human(forHuman), draw.llm(isSideBySide ? forHuman : forLlm)];
  return {
    columns,
    steps: top.draw(forTop),
    views: draw.views(forViews),
    panes: panes && { isSideBySide, width, gap: layout.gap, human, llm },
    question: picker && forPicker > 0 ? { picker, size: { columns, rows: forPicker } } : null,
  };
}

function pickerHeight(picker: PickerState, size: Size): number {
  const { lines } = pickerLines(picker, size);
  return Math.min(size.rows, lines.length + 1); // the keys
}

function paneRows(
  pane: Pane,
  layout: Required<Pick<Layout, 'count' | 'width' | 'highlighter'>>,
  look: Look,
): readonly Line[] {
  const { count, width } = layout;
  const { lines, total } = paneLines(pane, layout);
  const rows = wrapClean(lines, width, look);
  const unseen = total - lines.length;
  const more = (left: number) => moreLine(left + unseen, width);
  return unseen > 0 && rows.length < count ? [...rows, more(0)] : fitRows(rows, count, more);
}

function moreLine(count: number, width: number): Line {
  const long = `… ${count} more lines (protocol-cli render or -o plain shows all)`;
  const text = long.length <= width ? long : `… ${count} more lines (-o plain shows all)`;
  return cutLine([say(text, 'dim')], width);
}

interface Want {
  readonly wanted: number;
  readonly min: number;
  /** If not all fit, the highest rank is left out first. */
  readonly rank: number;
}

/** The number of rows of each block, with a blank row between blocks. Small blocks get all they need; the others share the rest evenly. */
function shareRows(height: number, wants: readonly Want[]): readonly number[] {
  const granted = wants.map(({ wanted, min }) => Math.min(wanted, min));
  const left = () => {
    const shown = granted.filter(rows => rows > 0);
    return height - shown.reduce((sum, rows) => sum + rows, Math.max(0, shown.length - 1));
  };
  for (const [index] of [...wants.entries()].sort(([, a], [, b]) => b.rank - a.rank))
    if (left() < 0) granted[index] = 0;
  for (let rest = left(); rest > 0; rest--) {
    const growing = [...granted.keys()].filter(at => granted[at] && granted[at] < (wants[at]?.wanted ?? 0));
    const poorest = Math.min(...growing.map(at => granted[at] ?? 0));
    const next = growing.find(at => granted[at] === poorest);
    if (next === undefined) break;
    granted[next] = poorest + 1;
  }
  return granted;
}
