import { divided, fitRows } from '../../dress/columns.js';
import { cutLine } from '../../dress/cut-line.js';
import { dressLine } from '../../dress/dress.js';
import type { Theme } from '../../dress/theme.js';
import type { Line } from '../../story/line.js';
import { say } from '../../story/spans.js';
import { type Reading, reading, wrapLines } from '../scrolled-rows.js';
import type { Size } from '../terminal.js';
import { selectedIndex, type View } from './view.js';

/** What a list shows: what stands above it, its items and their details, the keys. */
export interface Listing {
  readonly head: readonly Line[];
  /** Where there is no item yet. */
  readonly empty: readonly Line[];
  readonly help: readonly Line[];
  readonly notices: readonly Line[];
  readonly view: View;
  /** Of the items, oldest first. */
  readonly keys: readonly string[];
  /** The keys that matter now. @param columns that it may have */
  readonly foot: (columns: number) => Line;
  /** The items from one index up to another as a table with its head. Only those are looked at: there may be thousands. */
  readonly table: (
    seen: Seen,
    columns: number,
  ) => { readonly lines: readonly Line[]; readonly isRunning: boolean };
  /** Of the item at this index, dressed. */
  readonly details: (index: number, columns: number) => readonly string[];
}

export interface Seen {
  readonly from: number;
  readonly to: number;
  readonly selected: number;
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

/** From here on the details stand beside the list. */
const WIDE = 120;
const DIVIDER = ' │ ';
/** Of the width, where both stand side by side. */
const LIST_SHARE = 0.58;
/** Rows below which blank rows are a waste, and a list and details together too. */
const ROOMY = 16;
const MAX_NOTICES = 4;

/** Lays a list out. */
export function listFrame(listing: Listing, { columns, rows }: Size, theme: Theme): Frame {
  const { notices } = listing;
  const height = Math.max(1, rows - 1);
  const draw = (line: Line) => dressLine(cutLine(line, columns), theme);
  const blank = height >= ROOMY ? [''] : [];
  const head = [...listing.head.map(draw), ...blank];
  const said = height < ROOMY ? notices.slice(-1).map(draw) : noticeRows(notices, columns, theme);
  const foot = [...blank, ...said, draw(listing.foot(columns))];
  const left = Math.max(0, height - head.length - foot.length);
  const body = bodyOf(listing, { columns, rows: left }, theme);
  const filled = [...body.rows, ...Array.from({ length: Math.max(0, left - body.rows.length) }, () => '')];
  return { ...body, rows: [...head, ...filled.slice(0, left), ...foot].slice(0, height) };
}

function noticeRows(notices: readonly Line[], columns: number, theme: Theme): readonly string[] {
  const more = (count: number) => dressLine([say(`… ${count} more rows`, 'dim')], theme);
  return fitRows(wrapLines(notices, columns, theme), MAX_NOTICES, more);
}

function bodyOf(listing: Listing, size: Size, theme: Theme): Frame {
  const { view, keys, help, empty } = listing;
  const { columns, rows } = size;
  if (view.page === 'help')
    return page(reading(wrapLines(help, columns, theme), view.scroll, rows, theme), rows);
  if (keys.length === 0) return still(wrapLines(empty, columns, theme).slice(0, rows));
  if (view.page === 'details') return page(detailsOf(listing, size, theme), rows);
  if (columns >= WIDE) return beside(listing, size, theme);
  return rows < ROOMY - 6
    ? { ...listOf(listing, size, theme), height: 0, most: 0 }
    : below(listing, size, theme);
}

function beside(listing: Listing, { columns, rows }: Size, theme: Theme): Frame {
  const width = Math.floor(columns * LIST_SHARE);
  const right = columns - width - DIVIDER.length;
  const list = listOf(listing, { columns: width, rows }, theme);
  const details = detailsOf(listing, { columns: right, rows }, theme);
  const divider = theme.dim(DIVIDER);
  const whole = divided(list.rows, details.rows, { left: width, divider, height: rows });
  return { rows: whole, isRunning: list.isRunning, height: rows, most: details.most };
}

/** The list takes what it needs, up to two fifths. */
function below(listing: Listing, { columns, rows }: Size, theme: Theme): Frame {
  const forList = Math.min(listing.keys.length + 1, Math.max(4, Math.floor(rows * 0.4)));
  const height = rows - forList - 1;
  const list = listOf(listing, { columns, rows: forList }, theme);
  const details = detailsOf(listing, { columns, rows: height }, theme);
  const rule = theme.dim('─'.repeat(columns));
  return {
    rows: [...list.rows, rule, ...details.rows],
    isRunning: list.isRunning,
    height,
    most: details.most,
  };
}

function listOf({ view, keys, table }: Listing, { columns, rows }: Size, theme: Theme) {
  const selected = selectedIndex(view, keys);
  const height = Math.max(1, rows - 1);
  const from = Math.max(0, Math.min(keys.length - height, selected - Math.floor(height / 2)));
  const { lines, isRunning } = table({ from, to: from + height, selected }, columns);
  return { rows: lines.slice(0, rows).map(line => dressLine(line, theme)), isRunning };
}

function detailsOf({ view, keys, details }: Listing, { columns, rows }: Size, theme: Theme): Reading {
  return reading(details(selectedIndex(view, keys), columns), view.scroll, rows, theme);
}

function page({ rows, most }: Reading, height: number): Frame {
  return { rows, most, height, isRunning: false };
}

function still(rows: readonly string[]): Frame {
  return { rows, most: 0, height: 0, isRunning: false };
}
