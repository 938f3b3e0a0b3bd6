import { type Line, SPLIT_FROM } from '../../render/line.js';
import { cutLine } from '../../render/terminal/fit.js';
import { scrolledLine } from '../../render/terminal/scroll.js';
import type { Palette } from '../../render/terminal/theme.js';
import { wrapRows } from '../../render/terminal/wrap.js';
import { lastIndexUpTo, memoizeByObject, RecentMap } from '../../util/collections.js';
import type { Size } from '../tty.js';
import type { Document } from './document.js';
import { markMatches } from './search.js';

/** How all texts are shown. */
export interface ReadingStyle {
  readonly isWrapped: boolean;
  readonly layout: 'auto' | 'split' | 'unified';
  readonly isUnfolded: boolean;
  /** The text that is searched, and marked. */
  readonly search: string | null;
}

/** A document in an area of the screen. */
export interface View {
  readonly document: Document;
  /** The area for the text. */
  readonly size: Size;
  readonly style: ReadingStyle;
  readonly palette?: Palette | undefined;
}

export interface Position {
  /** The first line on the screen. */
  readonly line: number;
  /** The number of rows of that line that have scrolled out, if lines are wrapped. */
  readonly row: number;
  /** The number of cells scrolled to the right, if lines are not wrapped. */
  readonly left: number;
  /** The line of the last jump (to a match, a hunk or a file), until the user scrolls. */
  readonly jumpedTo: number | null;
  /** The end is visible, so the view follows added lines. */
  readonly isAtEnd: boolean;
}

export const TOP: Position = { line: 0, row: 0, left: 0, jumpedTo: null, isAtEnd: false };

type Place = Pick<Position, 'line' | 'row'>;

/** Minimum width of a line with two halves. */
const MIN_WIDTH = 7;

export function hasHunks(document: Document): boolean {
  return document.landmarks('hunk').length > 0;
}

export function isSplit({ layout }: ReadingStyle, columns: number): boolean {
  return layout === 'split' || (layout === 'auto' && columns >= SPLIT_FROM);
}

/** The nearest position within the document, and whether it shows the end. */
export function clamped(view: View, position: Position): Position {
  const { document, size } = view;
  const { line, row } = position;
  const last = Math.max(0, document.length - 1);
  const end = moved(view, { line: last, row: heightOf(view, last) - 1 }, 1 - Math.max(1, size.rows));
  const isAtEnd = line > end.line || (line === end.line && row >= end.row);
  if (isAtEnd) return { ...position, ...end, isAtEnd };
  return { ...position, row: Math.min(row, heightOf(view, line) - 1), isAtEnd };
}

/** The place `by` rows further down (up if negative), within the document. */
export function moved(view: View, from: Place, by: number): Place {
  let { line } = from;
  let row = from.row + by;
  while (row < 0 && line > 0) row += heightOf(view, --line);
  const last = view.document.length - 1;
  for (; line < last && row >= heightOf(view, line); line++) row -= heightOf(view, line);
  return { line, row: Math.max(0, Math.min(row, heightOf(view, line) - 1)) };
}

/** The number of rows that the whole text takes, or `max` if it takes more. */
export function heightUpTo(view: View, max: number): number {
  let height = 0;
  for (let line = 0; line < view.document.length && height < max; line++) height += heightOf(view, line);
  return Math.min(height, max);
}

/** The heights of wrapped lines of a document by width: wrapping is slow. */
const heightsOf = memoizeByObject((_document: Document) => new RecentMap<number, Map<number, number>>(2));

function heightOf({ document, size: { columns }, style, palette }: View, line: number): number {
  if (!style.isWrapped) return 1;
  const heights = heightsOf(document).of(columns, () => new Map());
  const height = heights.get(line) ?? wrapRows(document.line(line), columns, palette).length;
  heights.set(line, height);
  return height;
}

/** A line with its matches marked. */
export function shownLine({ document, style }: View, index: number): Line {
  const line = document.line(index);
  return style.search === null ? line : markMatches(line, style.search);
}

/** The rows on the screen, the line of each (for a header, the line that it covers), and the first line that is not covered. */
export function screenOf(view: View, position: Position) {
  const { document, size } = view;
  const rows: Line[] = [];
  const lines: number[] = [];
  for (let index = position.line; index < document.length && rows.length < size.rows; index++) {
    const skipped = index === position.line ? position.row : 0;
    for (const row of rowsOf(view, position, index).slice(skipped, skipped + size.rows - rows.length)) {
      rows.push(row);
      lines.push(index);
    }
  }
  const headers = headersOver(document, lines).map(line => cutLine(line, size.columns));
  const count = headers.length;
  return { rows: [...headers, ...rows.slice(count)], lines, headers: count, first: lines[count] ?? 0 };
}

function rowsOf(view: View, { left }: Position, index: number): readonly Line[] {
  const { columns } = view.size;
  const line = shownLine(view, index);
  const shown = view.style.isWrapped ? line : scrolledLine(line, columns, left);
  return wrapRows(shown, columns, view.palette);
}

/** The headers of the first line that stays visible below them. The next headers push out the previous ones. */
function headersOver(document: Document, lines: readonly number[]): readonly Line[] {
  for (const [row, line] of lines.entries()) {
    const headers = document.headersAt(line);
    if (headers.length <= row) return headers;
  }
  return [];
}

/** At most as many rows as fit, and their position: `12–34 of 5,000 · hunk 2/5 · file 1/3`. */
export function windowOf(
  view: View,
  position: Position,
): { readonly rows: readonly Line[]; readonly status: string } {
  const { document, size } = view;
  const { length } = document;
  if (size.columns < MIN_WIDTH || size.rows < 1 || length === 0) return { rows: [], status: '' };
  const { rows, lines, first } = screenOf(view, position);
  const { isAtEnd, line, jumpedTo } = position;
  // At the end of a document the position is that of the last line: the lines of the last screen never reach the top.
  const end = isAtEnd && line > 0 ? lines.at(-1) : undefined;
  const [from = 0, to = 0] = [lines[0], lines.at(-1)];
  const range = `${grouped(from + 1)}–${grouped(to + 1)} of ${grouped(length)}`;
  return { rows, status: [range, ...landmarksAt(document, jumpedTo ?? end ?? first)].join(' · ') };
}

/** `hunk 2/5`, numbered per file as in the header; `file 1/3`. */
function* landmarksAt(document: Document, line: number): Generator<string> {
  const [files, hunks] = [document.landmarks('file'), document.landmarks('hunk')];
  const file = lastIndexUpTo(files, line);
  const hunksBefore = (end: number | undefined) =>
    end === undefined ? hunks.length : lastIndexUpTo(hunks, end - 1) + 1;
  const first = hunksBefore(files[file] ?? 0);
  const hunk = lastIndexUpTo(hunks, line) + 1 - first;
  if (hunk > 0) yield `hunk ${grouped(hunk)}/${grouped(hunksBefore(files[file + 1]) - first)}`;
  if (file >= 0 && files.length > 1) yield `file ${grouped(file + 1)}/${grouped(files.length)}`;
}

export function grouped(number: number): string {
  return number.toString().replaceAll(/\B(?=(\d{3})+$)/g, ',');
}
