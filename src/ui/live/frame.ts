import { columnWidth, fitRows } from '../../dress/columns.js';
import { dressLine, wrapLine } from '../../dress/dress.js';
import type { Theme } from '../../dress/theme.js';
import { paneLines } from '../../story/pane-lines.js';
import type { Pane, Panes } from '../../story/panes.js';
import { stepLine } from '../../story/step-line.js';
import type { Step } from '../../story/steps/index.js';

/** The terminal's size in cells. */
export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** What the live view draws, cut to fit: dressed rows, never wider or more than the terminal allows. */
export interface Frame {
  readonly steps: readonly string[];
  /** Null until the call is settled. */
  readonly panes: {
    readonly isSideBySide: boolean;
    readonly width: number;
    readonly human: readonly string[];
    readonly llm: readonly string[];
  } | null;
}

export interface Scene {
  readonly steps: readonly Step[];
  readonly panes: Panes | null;
  /** Ms since the start. */
  readonly now: number;
}

/** From here on the panes stand side by side. */
const WIDE = 120;
export const GAP = 3;
/** Rows between steps and panes, and between stacked panes. */
const BLANK = 1;
/** A pane smaller than this says nothing. */
const SMALLEST_PANE = 3;

/**
 * Lays the scene out. A frame as high as the terminal would make it scroll, and what scrolls can be wiped no more:
 * it stays one row below.
 */
export function frameOf({ steps, panes, now }: Scene, { columns, rows }: Size, theme: Theme): Frame {
  const height = rows - 1;
  const stepRows = steps.flatMap(step => wrapLine(stepLine(step, now), columns, theme));
  if (panes === null) return { steps: latest(stepRows, height), panes: null };
  const isSideBySide = columns >= WIDE;
  const width = isSideBySide ? columnWidth({ width: columns, gap: GAP }) : columns;
  const least = [panes.human, panes.llm].map(pane => paneRows(pane, width, SMALLEST_PANE, theme).length);
  const reserved = isSideBySide ? Math.max(...least) : least.reduce((sum, rows) => sum + rows, BLANK);
  const forSteps = latest(stepRows, Math.max(1, height - BLANK - reserved));
  const left = Math.max(1, height - forSteps.length - BLANK);
  const [human, llm] = isSideBySide
    ? [paneRows(panes.human, width, left, theme), paneRows(panes.llm, width, left, theme)]
    : stacked(panes, width, left - BLANK, theme);
  return { steps: forSteps, panes: { isSideBySide, width, human, llm } };
}

/** The smaller pane gets what it needs, the other the rest. */
function stacked({ human, llm }: Panes, width: number, left: number, theme: Theme): [string[], string[]] {
  const half = Math.max(1, Math.floor(left / 2));
  const small = Math.min(half, paneRows(llm, width, half, theme).length);
  const upper = paneRows(human, width, Math.max(1, left - small), theme);
  return [upper, paneRows(llm, width, Math.max(1, left - upper.length), theme)];
}

function paneRows(pane: Pane, width: number, max: number, theme: Theme): string[] {
  const { lines, total } = paneLines(pane, max);
  const rows = lines.flatMap(line => wrapLine(line, width, theme));
  const unseen = total - lines.length;
  const more = (count: number) =>
    dressLine([{ text: `… ${count + unseen} more lines (-o plain shows all)`, tone: 'dim' }], theme);
  return unseen > 0 && rows.length < max ? [...rows, more(0)] : fitRows(rows, max, more);
}

/** The end of a list of rows: what happened last matters most. */
function latest(rows: readonly string[], max: number): string[] {
  return rows.length <= max ? [...rows] : rows.slice(rows.length - max);
}
