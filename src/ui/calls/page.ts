import { dressLine } from '../../dress/dress.js';
import type { Theme } from '../../dress/theme.js';
import type { Line } from '../../story/line.js';
import { wrapLines } from '../scrolled-rows.js';
import { filled, firstSeen, joined, type Shares, type Split, splitOf } from '../split.js';
import type { Size } from '../terminal.js';
import { type Tabs, tabsLine } from './tabs-line.js';

/** Some of the calls as a table with its head. */
export interface SeenTable {
  readonly lines: readonly Line[];
  /** What it says changes as time goes on. */
  readonly isRunning: boolean;
}

/** Calls from one index up to another, and which of all is selected. */
export interface SeenCalls {
  readonly from: number;
  readonly to: number;
  readonly selected: number;
}

export interface CallsScene {
  readonly count: number;
  readonly selected: number;
  readonly focus: 'list' | number;
  readonly tabs: Tabs;
  /** Where the list and the sheet stand beside each other. */
  readonly shares: CallsShares;
  /** Where there is no call yet. */
  readonly empty: readonly Line[];
  /** Only calls that are seen are looked at: there may be thousands. */
  readonly table: (seen: SeenCalls, columns: number) => SeenTable;
  /** The sheet of the selected call, in this much room. */
  readonly sheet: (size: Size) => readonly string[];
}

export type CallsShares = Readonly<Record<'list' | 'reading', Omit<Shares, 'wanted'>>>;

/** Where the list and the sheet stand: who reads on a small screen reads one call, and sees no list. */
export function callsSplit(
  { count, focus, shares }: Pick<CallsScene, 'count' | 'focus' | 'shares'>,
  size: Size,
): Split {
  const { list, reading } = shares;
  if (focus === 'list') return splitOf(size, { ...list, wanted: count + 1 });
  if (size.columns >= reading.wide) return splitOf(size, { ...reading, wanted: count + 1 });
  return { isBeside: false, list: { columns: size.columns, rows: 0 }, details: size };
}

/** The room that a sheet has below its tabs. */
export function sheetSize({ details }: Split): Size {
  return { columns: details.columns, rows: Math.max(0, details.rows - 1) };
}

/** The calls, and the sheet of the selected one. */
export function callsPage(
  scene: CallsScene,
  size: Size,
  theme: Theme,
): { readonly rows: readonly string[]; readonly isRunning: boolean } {
  const { count, empty, tabs } = scene;
  if (count === 0)
    return { rows: filled(wrapLines(empty, size.columns, theme), size.rows), isRunning: false };
  const split = callsSplit(scene, size);
  const heading = dressLine(tabsLine(tabs, split.details.columns), theme);
  const details = split.details.rows > 0 ? [heading, ...scene.sheet(sheetSize(split))] : [];
  if (split.list.rows === 0) return { rows: filled(details, size.rows), isRunning: false };
  const { lines, isRunning } = listed(scene, split.list);
  const list = lines.map(line => dressLine(line, theme));
  return { rows: joined(split, [list, details], theme), isRunning };
}

function listed({ count, selected, table }: CallsScene, { columns, rows }: Size): SeenTable {
  const height = Math.max(1, rows - 1);
  const from = firstSeen(count, selected, height);
  return table({ from, to: Math.min(count, from + height), selected }, columns);
}
