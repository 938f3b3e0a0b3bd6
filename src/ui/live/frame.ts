import type { Highlighter } from '../../display/syntax/highlighter.js';
import { fitRows } from '../../dress/columns.js';
import { cutLine } from '../../dress/cut-line.js';
import { dressLine, wrapLine } from '../../dress/dress.js';
import { paneLayout } from '../../dress/pane-layout.js';
import type { Theme } from '../../dress/theme.js';
import type { Line } from '../../story/line.js';
import { paneLines } from '../../story/pane-lines.js';
import type { Pane, Panes } from '../../story/panes.js';
import { say } from '../../story/spans.js';
import { stepLine } from '../../story/step-line.js';
import type { Step } from '../../story/steps/index.js';
import type { Size } from '../terminal.js';
import { allot } from './allot.js';
import type { Picker } from './picker.js';
import { pickerRows } from './picker-rows.js';

/** What the live view draws, cut to fit: dressed rows, never wider or more than the terminal allows. A block may be empty. */
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

export interface Scene {
  readonly steps: readonly Step[];
  /** What can be done meanwhile, or what goes on: below the steps. */
  readonly status: readonly Line[];
  /** What the thread shows besides results, as it is now. */
  readonly views: readonly Pane[];
  readonly panes: Panes | null;
  readonly picker: Picker | null;
  /** Without one, code is plain. */
  readonly highlighter?: Highlighter | null;
  /** Ms since the start. */
  readonly now: number;
}

/** A frame without secrets; what a person is asked stays as it is. */
export function redactFrame(frame: Frame, redact?: (text: string) => string): Frame {
  if (!redact) return frame;
  const clean = (lines: readonly string[]) => lines.map(redact);
  const { steps, views, panes, picker } = frame;
  return {
    steps: clean(steps),
    views: clean(views),
    panes: panes && { ...panes, human: clean(panes.human), llm: clean(panes.llm) },
    picker,
  };
}

/** What panes are drawn with. */
interface Pencil {
  readonly width: number;
  readonly theme: Theme;
  readonly highlighter: Highlighter | null;
}

/** A heading, and one row: of what it says, or of how much that is. */
const SMALLEST_PANE = 2;
/** The prompt, two choices, the keys. */
const SMALLEST_PICKER = 4;
/** Of the height: a question that a person is to answer comes before whatever else there is to see. */
const PICKER_SHARE = 2 / 3;

/** What is laid out: a scene, but for what stands above. */
export type Surroundings = Omit<Scene, 'steps' | 'now'>;

/** What stands above all else, in rows. */
export interface Top {
  /** At most so many of them. */
  readonly draw: (max: number) => readonly string[];
  /** With fewer it says nothing. */
  readonly least: number;
}

/** Lays the scene out: its steps above, the latest where there is no room for all. */
export function frameOf(scene: Scene, size: Size, theme: Theme): Frame {
  const rows = stepRows(scene, { columns: size.columns, rows: Math.max(0, size.rows - 1) }, theme);
  const top = { draw: (max: number) => latest(rows, max), least: 1 + scene.status.length };
  return layFrame(top, scene, size, theme);
}

/**
 * Lays out what there is to see. A frame as high as the terminal would make it scroll, and what scrolls can be wiped no more:
 * it stays one row below.
 */
export function layFrame(top: Top, scene: Surroundings, { columns, rows }: Size, theme: Theme): Frame {
  const height = Math.max(0, rows - 1);
  const { isSideBySide, width } = paneLayout(columns);
  const { views, picker, panes } = scene;
  const pencil = { width, theme, highlighter: scene.highlighter ?? null };
  const draw = {
    views: (max: number) => viewRows(views, max, { ...pencil, width: columns }),
    human: (max: number) => (panes ? paneRows(panes.human, max, pencil) : []),
    llm: (max: number) => (panes ? paneRows(panes.llm, max, pencil) : []),
    picker: (max: number) => (picker ? pickerRows(picker, { columns, rows: max }, theme) : []),
  };
  const human = draw.human(height).length;
  const llm = draw.llm(height).length;
  const [forSteps = 0, forViews = 0, forHuman = 0, forLlm = 0, forPicker = 0] = allot(height, [
    { rows: top.draw(height).length, least: top.least, rank: 0 },
    { rows: draw.views(height).length, least: SMALLEST_PANE * views.length, rank: 4 },
    { rows: isSideBySide ? Math.max(human, llm) : human, least: SMALLEST_PANE, rank: 3 },
    { rows: isSideBySide ? 0 : llm, least: SMALLEST_PANE, rank: 2 },
    { rows: draw.picker(height).length, least: leastPicker(height), rank: 1 },
  ]);
  return {
    steps: top.draw(forSteps),
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

function leastPicker(height: number): number {
  return Math.max(SMALLEST_PICKER, Math.floor(height * PICKER_SHARE));
}

/** Only of the latest steps that there can be room for: there may be thousands. */
function stepRows({ steps, status, now }: Scene, { columns, rows }: Size, theme: Theme): string[] {
  const lines = [...latest(steps, rows).map(step => stepLine(step, now)), ...status];
  return lines.flatMap(line => wrapLine(line, columns, theme));
}

/** One below the other, each with its share. */
function viewRows(views: readonly Pane[], max: number, pencil: Pencil): string[] {
  const share = Math.floor(max / Math.max(1, views.length));
  return views.flatMap(view => paneRows(view, share, pencil));
}

function paneRows(pane: Pane, max: number, { width, theme, highlighter }: Pencil): string[] {
  const { lines, total } = paneLines(pane, { count: max, width, highlighter });
  const rows = lines.flatMap(line => wrapLine(line, width, theme));
  const unseen = total - lines.length;
  const more = (count: number) => dressLine(moreLine(count + unseen, width), theme);
  return unseen > 0 && rows.length < max ? [...rows, more(0)] : fitRows(rows, max, more);
}

/** How much is not shown, and where it can be seen: in short where there is no room for more. */
function moreLine(count: number, width: number): Line {
  const all = `… ${count} more lines (protocol-cli render or -o plain shows all)`;
  return cutLine(
    [say(all.length <= width ? all : `… ${count} more lines (-o plain shows all)`, 'dim')],
    width,
  );
}

/** The end of a list: what happened last matters most. */
function latest<T>(list: readonly T[], max: number): readonly T[] {
  return list.slice(Math.max(0, list.length - max));
}
