import type { Highlighter } from '../../display/syntax.js';
import { type Line, say } from '../../render/line.js';
import type { Pane, Panes } from '../../render/panes.js';
import { paneLines } from '../../render/panes.js';
import { type Step, stepLine } from '../../render/steps.js';
import {
  cutLine,
  dressLine,
  fitRows,
  paneLayout,
  type Theme,
  wrapLine,
} from '../../render/terminal/theme.js';
import { askedIn, LEAST_PICKER, type Picker } from '../picker.js';
import type { Size } from '../terminal.js';

/** Blocks of the live view: rows, never wider or more than the terminal allows. A block may be empty. */
export interface Frame {
  readonly steps: readonly string[];
  readonly views: readonly string[];
  /** Null until the call is settled. */
  readonly panes: {
    readonly isSideBySide: boolean;
    readonly width: number;
    readonly human: readonly string[];
    readonly llm: readonly string[];
  } | null;
  readonly picker: readonly string[];
}

/** What the live view shows below its steps. */
export interface Scene {
  /** What goes on, or what a person can do, directly below the steps. */
  readonly status: readonly Line[];
  readonly views: readonly Pane[];
  readonly panes: Panes | null;
  readonly picker: Picker | null;
  /** Without one, code is plain. */
  readonly highlighter?: Highlighter | null;
}

export interface StepScene extends Scene {
  readonly steps: readonly Step[];
  readonly now: number;
}

export interface Top {
  readonly draw: (max: number) => readonly string[];
  readonly least: number;
}

/** Of the height, for a question: it comes before everything else. */
const PICKER_SHARE = 2 / 3;
/** A heading, and one row. */
const LEAST_PANE = 2;

/** A frame with the steps on top; the latest where not all fit. */
export function frameOf(scene: StepScene, size: Size, theme: Theme): Frame {
  const { steps, status, now } = scene;
  const lines = [...steps.slice(-Math.max(1, size.rows - 1)).map(step => stepLine(step, now)), ...status];
  const rows = lines.flatMap(line => wrapLine(line, size.columns, theme));
  const top = { draw: (max: number) => rows.slice(Math.max(0, rows.length - max)), least: 1 + status.length };
  return layFrame(top, scene, size, theme);
}

/** A frame is one row lower than the terminal: a higher one would scroll, and rows that have scrolled cannot be erased. */
export function layFrame(top: Top, scene: Scene, { columns, rows }: Size, theme: Theme): Frame {
  const height = Math.max(0, rows - 1);
  const { isSideBySide, width } = paneLayout(columns);
  const { views, picker, panes, highlighter = null } = scene;
  const pane = (shown: Pane | undefined, max: number, cells: number) =>
    shown ? paneRows(shown, { count: max, width: cells, highlighter }, theme) : [];
  const draw = {
    views: (max: number) =>
      views.flatMap(view => pane(view, Math.floor(max / Math.max(1, views.length)), columns)),
    human: (max: number) => pane(panes?.human, max, width),
    llm: (max: number) => pane(panes?.llm, max, width),
    picker: (max: number) => (picker ? pickerRows(picker, { columns, rows: max }, theme) : []),
  };
  const [human, llm] = [draw.human(height).length, draw.llm(height).length];
  const leastPicker = Math.max(LEAST_PICKER, Math.floor(height * PICKER_SHARE));
  const [forTop = 0, forViews = 0, forHuman = 0, forLlm = 0, forPicker = 0] = shareRows(height, [
    { wanted: top.draw(height).length, least: top.least, rank: 0 },
    { wanted: draw.views(height).length, least: LEAST_PANE * views.length, rank: 4 },
    { wanted: isSideBySide ? Math.max(human, llm) : human, least: LEAST_PANE, rank: 3 },
    { wanted: isSideBySide ? 0 : llm, least: LEAST_PANE, rank: 2 },
    { wanted: draw.picker(height).length, least: leastPicker, rank: 1 },
  ]);
  return {
    steps: top.draw(forTop),
    views: draw.views(forViews),
    panes: panes && {
      isSideBySide,
      width,
      human: draw.human(forHuman),
      llm: draw.llm(isSideBySide ? forHuman : forLlm),
    },
    picker: draw.picker(forPicker),
  };
}

function pickerRows(picker: Picker, size: Size, theme: Theme): readonly string[] {
  const { rows, keys } = askedIn(size, picker, theme);
  return [...rows, dressLine(keys, theme)].slice(0, size.rows);
}

function paneRows(
  pane: Pane,
  layout: { readonly count: number; readonly width: number; readonly highlighter: Highlighter | null },
  theme: Theme,
): readonly string[] {
  const { count, width } = layout;
  const { lines, total } = paneLines(pane, layout);
  const rows = lines.flatMap(line => wrapLine(line, width, theme));
  const unseen = total - lines.length;
  const more = (left: number) => dressLine(moreLine(left + unseen, width), theme);
  return unseen > 0 && rows.length < count ? [...rows, more(0)] : fitRows(rows, count, more);
}

function moreLine(count: number, width: number): Line {
  const long = `… ${count} more lines (protocol-cli render or -o plain shows all)`;
  const text = long.length <= width ? long : `… ${count} more lines (-o plain shows all)`;
  return cutLine([say(text, 'dim')], width);
}

/** A frame without secrets, except in the question that the person is asked. */
export function redactFrame(frame: Frame, redact: (text: string) => string = text => text): Frame {
  const clean = (rows: readonly string[]) => rows.map(redact);
  const { steps, views, panes, picker } = frame;
  return {
    steps: clean(steps),
    views: clean(views),
    panes: panes && { ...panes, human: clean(panes.human), llm: clean(panes.llm) },
    picker,
  };
}

interface Want {
  readonly wanted: number;
  readonly least: number;
  /** Where not all fit, the highest rank is left out first. */
  readonly rank: number;
}

/** The rows of each block, with a blank row between any two. Small blocks get all they want, the others share the rest evenly. */
function shareRows(height: number, wants: readonly Want[]): readonly number[] {
  const granted = wants.map(({ wanted, least }) => Math.min(wanted, least));
  for (const [index] of [...wants.entries()].sort(([, a], [, b]) => b.rank - a.rank))
    if (withBlanks(granted) > height) granted[index] = 0;
  for (let left = height - withBlanks(granted); left > 0; left--) {
    const growing = granted
      .map((rows, index) => ({ rows, index }))
      .filter(({ rows, index }) => rows > 0 && rows < (wants[index]?.wanted ?? 0));
    const [poorest] = growing.sort((a, b) => a.rows - b.rows);
    if (!poorest) break;
    granted[poorest.index] = poorest.rows + 1;
  }
  return granted;
}

function withBlanks(granted: readonly number[]): number {
  const shown = granted.filter(rows => rows > 0);
  return shown.reduce((sum, rows) => sum + rows, Math.max(0, shown.length - 1));
}
