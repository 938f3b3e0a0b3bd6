import type { CallView } from '../../render/calls.js';
import type { Line } from '../../render/line.js';
import type { Highlighter } from '../../render/syntax.js';
import { DIVIDER, type Table, tableLines } from '../layout.js';
import type { Sheet } from '../reading/parts.js';
import { EMPTY_READING, type ReadingState, type SheetPlace } from '../reading/sheet.js';
import type { Size } from '../tty.js';

interface Entries<Entry> {
  /** Identifies the source; reading positions are remembered for each entry of each source. */
  readonly name?: string;
  readonly keys: readonly string[];
  /** The entries that the title counts; all by default. */
  readonly counted?: readonly string[];
  readonly get: (key: string) => Entry | undefined;
  /** The entry shown until the user selects one; the last one by default. */
  readonly preselected?: number;
}

export interface TableRows {
  /** Above the rows; null without one. */
  readonly head: Line | null;
  readonly rows: readonly Line[];
  /** The rows change as time passes. */
  readonly isRunning: boolean;
}

/** A list of entries, each with details in tabs: where they come from, and how they read. */
export interface List<Entry, Tab extends string> {
  readonly title: string;
  /** There is one entry, and only its details are shown. */
  readonly isSingle?: boolean;
  readonly tabs: readonly { readonly name: Tab; readonly title: string }[];
  /** Minimum width, in columns, for the list and the details side by side. */
  readonly wide: number;
  readonly share: number;
  readonly entries: () => Entries<Entry>;
  /** Shown if the selected entry no longer exists; without it, the preselected entry is shown. */
  readonly missing?: string;
  readonly titleOf: (entry: Entry) => string;
  readonly textOf: (entry: Entry) => readonly unknown[];
  /** Marks the title of a tab that the user should look at. */
  readonly isMarked?: (entry: Entry, tab: Tab) => boolean;
  readonly hasHead: boolean;
  /** The visible entries as a table: a list may have thousands. */
  readonly table: (entries: readonly Entry[], selected: number, columns: number) => TableRows;
  readonly sheetOf: (entry: Entry, tab: Tab) => Sheet;
  readonly empty: (columns: number) => readonly Line[];
  /** Loads the highlighter when it is first needed. */
  readonly highlighter: () => Highlighter | null;
}

/** Leaves enough width beside the list for the panes of human and LLM side by side. */
export const WITH_PANES = { wide: 165, share: 0.38 };

/** What a list shows as a table of calls. */
export function tableOf<Entry, Name extends string>(
  table: () => Table<Name>,
  rowOf: (entry: Entry, isSelected: boolean) => CallView<Name>,
): Pick<List<Entry, never>, 'hasHead' | 'table'> {
  return {
    hasHead: true,
    table(entries, selected, columns) {
      const views = entries.map((entry, index) => rowOf(entry, index === selected));
      const [head = null, ...rows] = tableLines(table(), views, views[selected], columns);
      return { head, rows, isRunning: views.some(({ isRunning }) => isRunning) };
    },
  };
}

export interface ListState<Tab extends string> {
  /** Null means the preselected entry. */
  readonly selected: string | null;
  readonly wanted: string | null;
  readonly tab: Tab;
  /** The list, or the index of a part of the sheet. */
  readonly focus: 'list' | number;
  /** The part with the focus takes the whole area. */
  readonly isZoomed: boolean;
  readonly showsBytes: boolean;
  readonly reading: ReadingState;
}

export function initialList<Tab extends string>({
  tabs,
  isSingle = false,
}: Pick<List<never, Tab>, 'tabs' | 'isSingle'>): ListState<Tab> {
  const [first] = tabs;
  if (!first) throw new Error('a list has at least one tab');
  return {
    selected: null,
    wanted: null,
    tab: first.name,
    focus: isSingle ? 0 : 'list',
    isZoomed: false,
    showsBytes: false,
    reading: EMPTY_READING,
  };
}

/** A list and its state. */
export interface Listed<Entry, Tab extends string> {
  readonly list: List<Entry, Tab>;
  readonly state: ListState<Tab>;
}

export function isReading({ focus }: { readonly focus: 'list' | number }): boolean {
  return focus !== 'list';
}

export function isEmpty<Entry, Tab extends string>(list: List<Entry, Tab>): boolean {
  return list.entries().keys.length === 0;
}

/** The index of the selected entry; negative if it no longer exists, or the list is empty. */
export function selectedIndex<Entry, Tab extends string>({ list, state }: Listed<Entry, Tab>): number {
  const { keys, preselected = keys.length - 1 } = list.entries();
  const index = state.selected === null ? preselected : keys.indexOf(state.selected);
  return index < 0 && list.missing === undefined ? preselected : index;
}

/** Null if nothing is selected, or the selected entry no longer exists. */
export function selectedKey<Entry, Tab extends string>(listed: Listed<Entry, Tab>): string | null {
  return listed.list.entries().keys[selectedIndex(listed)] ?? null;
}

export function selectedEntry<Entry, Tab extends string>(listed: Listed<Entry, Tab>): Entry | undefined {
  return listed.list.entries().get(selectedKey(listed) ?? '');
}

/** ` 2/9`; ` 9` if the selected entry does not count. */
export function positionText<Entry, Tab extends string>(listed: Listed<Entry, Tab>): string {
  const { keys, counted = keys } = listed.list.entries();
  if (keys.length === 0) return '';
  const nth = counted.indexOf(selectedKey(listed) ?? '') + 1;
  return nth === 0 ? ` ${counted.length}` : ` ${nth}/${counted.length}`;
}

/** Minimum height for both list and details; with fewer rows only one of them is shown. */
const MIN_ROWS_FOR_BOTH = 9;

const ABOVE = 0.45;

/** The areas of a list and its details. */
export interface ListAreas {
  readonly isBeside: boolean;
  /** Without edges; no rows if there is no room. */
  readonly list: Size;
  /** Without the row of the tabs. */
  readonly details: Size;
}

/**
 * Divides an area between a list and its details, side by side or stacked. On a small screen, the list is hidden while the details have
 * the focus.
 */
export function listAreas<Entry, Tab extends string>(
  { list, state }: Listed<Entry, Tab>,
  { columns, rows }: Size,
): ListAreas {
  const { wide, share, hasHead, isSingle } = list;
  if (isSingle) return { isBeside: false, list: { columns, rows: 0 }, details: { columns, rows } };
  if (isEmpty(list)) return { isBeside: false, list: { columns, rows }, details: { columns, rows: 0 } };
  if (columns >= wide) {
    const left = Math.floor(columns * share);
    const right = columns - left - DIVIDER.length;
    return { isBeside: true, list: { columns: left, rows }, details: { columns: right, rows } };
  }
  const wantedRows = list.entries().keys.length + (hasHead ? 1 : 0);
  const maxRows = Math.max(4, Math.floor(rows * ABOVE));
  const both = rows < MIN_ROWS_FOR_BOTH ? rows : Math.min(wantedRows, maxRows);
  const above = isReading(state) ? 0 : both;
  const below = isReading(state) ? rows : Math.max(0, rows - above - 1);
  return { isBeside: false, list: { columns, rows: above }, details: { columns, rows: below } };
}

/** The sheet of the selected entry and the area for it; null if no entry is selected. @param size of list and details together */
export function selectedSheet<Entry, Tab extends string>(
  listed: Listed<Entry, Tab>,
  size: Size,
): SheetPlace | null {
  const { list, state } = listed;
  const entry = selectedEntry(listed);
  if (entry === undefined) return null;
  const { columns, rows } = listAreas(listed, size).details;
  const { tab, focus, isZoomed, showsBytes } = state;
  return {
    name: JSON.stringify([list.entries().name, selectedKey(listed), tab]),
    sheet: list.sheetOf(entry, tab),
    focus,
    isZoomed,
    showsBytes,
    size: { columns, rows: Math.max(0, rows - (list.tabs.length > 1 ? 1 : 0)) },
    highlighter: list.highlighter,
  };
}
