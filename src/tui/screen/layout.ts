import { type Line, say } from '../../render/line.js';
import { fitRows } from '../../render/terminal/fit.js';
import { wrapRows } from '../../render/terminal/wrap.js';
import type { Hint } from '../keys.js';
import { pickerLines } from '../picker.js';
import type { Size } from '../tty.js';
import { currentNotices, type OverlayOf, type ScreenState } from './state.js';

/** The hints of the footer: as many of the first as fit, and all of the others. */
export interface FooterHints {
  readonly hints: readonly Hint[];
  readonly ends: readonly Hint[];
}

/** The lines above the body. @param isRoomy there is room for more than the necessary lines */
export type Head = (columns: number, isRoomy: boolean) => readonly Line[];

export interface ScreenLayout {
  readonly header: readonly Line[];
  /** The room for the body. */
  readonly room: Size;
  readonly isRoomy: boolean;
  /** A question to the user, and the keys that answer it. */
  readonly question: { readonly lines: readonly Line[]; readonly keys: Line } | null;
  readonly notices: readonly Line[];
}

/** Minimum height, in rows, for a title below the head and for notices of several rows. */
const MIN_ROWS_FOR_TITLE = 16;

const MAX_NOTICES = 4;

const QUESTION_SHARE = 2 / 3;

export const QUIT_HINTS: readonly Hint[] = [
  ['?', 'keys'],
  ['q', 'quit'],
];

/** Divides the screen. A frame is one row lower than the terminal: Ink would clear the scrollback for a higher one. */
export function layOutScreen<Purpose>(state: ScreenState<Purpose>, head: Head, now: number): ScreenLayout {
  const { overlay, size } = state;
  const { columns, rows } = size;
  const height = Math.max(1, rows - 1);
  const isRoomy = height >= MIN_ROWS_FOR_TITLE;
  const notices = noticeRows(state, columns, isRoomy, now);
  const header = head(columns, isRoomy).slice(0, height - notices.length - 1);
  const left = height - header.length - notices.length - 1;
  const asked = overlay?.kind === 'question' ? questionLines(overlay, { columns, rows: left }) : null;
  const question = asked && { ...asked, lines: asked.lines.slice(0, Math.max(0, left - 1)) };
  return {
    header,
    room: { columns, rows: left - (question ? question.lines.length + 1 : 0) },
    isRoomy,
    question,
    notices,
  };
}

function noticeRows(
  state: ScreenState<unknown>,
  columns: number,
  isRoomy: boolean,
  now: number,
): readonly Line[] {
  const lines = currentNotices(state, now).flatMap(each => each.lines);
  if (!isRoomy) return lines.slice(-1);
  const rows = lines.flatMap(line => wrapRows(line, columns));
  return fitRows(rows, MAX_NOTICES, moreRows);
}

function moreRows(count: number): Line {
  return [say(`… ${count} more rows`, 'dim')];
}

/** The visible lines of a page. The terminal may have become higher since it was scrolled. */
export function pageWindow(lines: readonly Line[], scroll: number, rows: number): readonly Line[] {
  const from = Math.max(0, Math.min(scroll, lines.length - rows));
  return fitRows(lines.slice(from), rows, moreRows);
}

function questionLines<Purpose>(
  { picker, escapeHint }: OverlayOf<Purpose, 'question'>,
  { columns, rows }: Size,
) {
  const maxRows = Math.max(3, Math.floor(rows * QUESTION_SHARE) - 1);
  const hints = { onEscape: escapeHint, onInterrupt: 'quit' };
  return pickerLines(picker, { columns, rows: maxRows }, hints);
}

/** The room for the text of a page: below its title. */
export function pageRows({ room, isRoomy }: ScreenLayout, hasTitle: boolean): number {
  return Math.max(1, room.rows - (isRoomy ? 1 : 0) - (hasTitle ? 2 : 0));
}

/** The room for a list and its details: below the edge with their titles, if there is room for one. */
export function listRoom({ room, isRoomy }: ScreenLayout): Size {
  return { columns: room.columns, rows: isRoomy ? room.rows - 1 : room.rows };
}
