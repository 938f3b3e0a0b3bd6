import { type Line, say } from '../../render/line.js';
import type { Highlighter } from '../../render/syntax.js';
import { cellsOf } from '../../render/terminal/cells.js';
import { cutLine } from '../../render/terminal/fit.js';
import type { Palette } from '../../render/terminal/theme.js';
import { cursorMark, DIVIDER } from '../layout.js';
import type { Size } from '../tty.js';
import { COMMANDS, type Command, type ReadingCommand, searchFor } from './commands.js';
import { copyOf } from './copy.js';
import type { Anchor, Document } from './document.js';
import type { PartLook, Sheet } from './parts.js';
import {
  clamped,
  hasHunks,
  heightUpTo,
  isSplit,
  type Position,
  type ReadingStyle,
  TOP,
  type View,
  windowOf,
} from './view.js';

/** How a user reads, and where in each part. */
export interface ReadingState {
  readonly style: ReadingStyle;
  /** By the name of a sheet and the index of a part, oldest first. */
  readonly positions: ReadonlyMap<string, SavedPosition>;
}

/** A position and its anchors, which restore the position under another look. */
interface SavedPosition {
  readonly position: Position;
  readonly top: Anchor;
  readonly jumpedTo: Anchor | null;
}

const STYLE: ReadingStyle = { isWrapped: true, layout: 'auto', isUnfolded: false, search: null };

export const EMPTY_READING: ReadingState = { style: STYLE, positions: new Map() };

/** Maximum number of parts whose positions are remembered. */
const MAX_POSITIONS = 200;

/** A sheet in an area of the screen. */
export interface SheetPlace {
  /** Identifies the sheet and its reading positions. */
  readonly name: string;
  readonly sheet: Sheet;
  /** The list, or the index of a part of the sheet. */
  readonly focus: 'list' | number;
  /** The part with the focus takes the whole area. */
  readonly isZoomed: boolean;
  readonly showsBytes: boolean;
  readonly size: Size;
  /** With it, the background of changed rows fills them. */
  readonly palette?: Palette;
  /** Called when code is first drawn; null until the highlighter is loaded. */
  readonly highlighter: () => Highlighter | null;
}

/** A visible part of a sheet, the area for its text below its heading, and what is read of it. */
export interface LaidPart {
  readonly index: number;
  readonly title: Line;
  readonly isFocused: boolean;
  /** It grows at its end. */
  readonly isStream: boolean;
  readonly view: View;
  readonly position: Position;
}

export interface LaidSheet {
  /** The parts are side by side, not stacked. */
  readonly isBeside: boolean;
  /** The visible parts. */
  readonly slots: readonly LaidPart[];
  /** The number of all parts. */
  readonly count: number;
  readonly hasHunks: boolean;
}

/** A command's new state, and its message for the user. */
export interface Read {
  readonly state: ReadingState;
  readonly said: string | null;
}

const HEADING = 1;

/** Minimum width for parts side by side. */
const WIDE = 100;

/** Minimum width of a heading beside the reading position. */
const MIN_HEADING = 12;

/** Minimum number of rows for the text of each of several parts that are stacked. */
const MIN_ROWS = 3;

/** The visible parts: side by side or stacked, or only the one with the focus. */
export function layOutSheet(state: ReadingState, place: SheetPlace): LaidSheet {
  const { style } = state;
  const { sheet, focus, isZoomed, palette } = place;
  const { columns, rows } = place.size;
  const count = sheet.length;
  const isBeside = columns >= WIDE && count > 1 && !isZoomed;
  const isAlone = !isBeside && (count === 1 || isZoomed || rows < count * (HEADING + MIN_ROWS));
  const width = isBeside ? Math.floor((columns - DIVIDER.length * (count - 1)) / count) : columns;
  const size = { columns: width, rows: Math.max(0, rows - HEADING) };
  const look = lookOf(style, place, width);
  const parts = [...sheet.entries()]
    .filter(([index]) => !isAlone || index === focusedIndex(place))
    .map(([index, part]) => ({ index, part, view: { document: part.document(look), size, style, palette } }));
  const stacked = rows - count * HEADING;
  const heights =
    isBeside || isAlone
      ? []
      : heightsOf(
          parts.map(({ view }) => heightUpTo(view, stacked)),
          stacked,
        );
  const slots = parts.map(({ index, part: { title, isStream = false }, view: own }, nth) => {
    const view = { ...own, size: { ...size, rows: heights[nth] ?? size.rows } };
    const saved = state.positions.get(keyOf(place, index));
    const position = clamped(view, saved ? restored(saved, view.document, isStream) : TOP);
    return { index, title, isFocused: index === focus, isStream, view, position };
  });
  return { isBeside, slots, count, hasHunks: slots.some(({ view }) => hasHunks(view.document)) };
}

/** What is visible of a part. */
export function visiblePart({ title, isFocused, view, position }: LaidPart): {
  readonly heading: Line;
  /** The reading position; empty if there is no room for it. */
  readonly status: Line;
  readonly rows: readonly Line[];
} {
  const { columns } = view.size;
  const { rows, status } = windowOf(view, position);
  const room = columns - cellsOf(status) - 4;
  const hasStatus = room >= MIN_HEADING;
  const heading = cutLine([cursorMark(isFocused), ...title], hasStatus ? room + 2 : columns);
  return { heading, status: hasStatus ? [say(status, 'dim')] : [], rows };
}

/** Executes a reading command. */
export function readSheet(state: ReadingState, place: SheetPlace, command: ReadingCommand): Read {
  const { slots } = layOutSheet(state, place);
  const focused = slots.find(({ index }) => index === focusedIndex(place));
  const isForDiff = command === 'split' || command === 'fold';
  const isOnDiff = focused && hasHunks(focused.view.document);
  const diff = isForDiff && !isOnDiff ? slots.find(({ view }) => hasHunks(view.document)) : undefined;
  return read(state, place, diff ?? focused, COMMANDS[command]);
}

/** Goes to the first match from here on, or else from the top. An empty text ends the search. */
export function searchSheet(state: ReadingState, place: SheetPlace, words: string): Read {
  const { slots } = layOutSheet(state, place);
  const focused = slots.find(({ index }) => index === focusedIndex(place));
  return read(state, place, focused, searchFor(words));
}

/**
 * The state after the sheet was visible: a reader at the end of a part that grows stays at its end. The same object if nothing
 * changed.
 */
export function sheetSeen(state: ReadingState, place: SheetPlace): ReadingState {
  if (!place.sheet.some(({ isStream }) => isStream)) return state;
  return layOutSheet(state, place).slots.reduce((seen, { index, isStream, view, position }) => {
    const before = state.positions.get(keyOf(place, index))?.position ?? TOP;
    return isStream && !isSame(before, position)
      ? withPosition(seen, keyOf(place, index), view, position)
      : seen;
  }, state);
}

/** The whole text of the part with the focus, to copy. */
export function partText(place: SheetPlace): string {
  const look = { isSplit: false, isUnfolded: true, showsBytes: place.showsBytes, highlighter: null };
  const part = place.sheet[focusedIndex(place)];
  return part ? copyOf(part.document(look)) : '';
}

function read(state: ReadingState, place: SheetPlace, part: LaidPart | undefined, command: Command): Read {
  if (!part) return { state, said: null };
  const { to, style, said = null } = command(part.view, part.position);
  const view = { ...part.view, style: { ...state.style, ...style } };
  const position = clamped(view, { ...part.position, ...to });
  return {
    state: withPosition({ ...state, style: view.style }, keyOf(place, part.index), view, position),
    said,
  };
}

/** The part that commands apply to, if it is visible. */
function focusedIndex({ sheet, focus }: SheetPlace): number {
  return focus === 'list' ? 0 : Math.min(focus, sheet.length - 1);
}

function lookOf(style: ReadingStyle, { showsBytes, highlighter }: SheetPlace, columns: number): PartLook {
  return {
    isSplit: isSplit(style, columns),
    isUnfolded: style.isUnfolded,
    showsBytes,
    get highlighter() {
      return highlighter(); // only diffs load it
    },
  };
}

/** Short parts get the rows that they need, up to their share; the longest one gets the rest. */
function heightsOf(wanted: readonly number[], room: number): readonly number[] {
  const heights = wanted.map(() => 0);
  const shortFirst = [...wanted.entries()].sort(([one, a], [other, b]) => a - b || other - one);
  let left = room;
  for (const [nth, [index, height]] of shortFirst.entries()) {
    const waiting = wanted.length - nth;
    heights[index] = waiting === 1 ? left : Math.min(height, Math.floor(left / waiting));
    left -= heights[index];
  }
  return heights;
}

function keyOf({ name }: SheetPlace, index: number): string {
  return `${index} ${name}`;
}

function restored(
  { position, top, jumpedTo }: SavedPosition,
  document: Document,
  isStream: boolean,
): Position {
  if (isStream && position.isAtEnd) return { ...position, line: document.length, row: 0 };
  return {
    ...position,
    line: document.lineAt(top),
    jumpedTo: jumpedTo && document.lineAt(jumpedTo),
  };
}

function withPosition(
  state: ReadingState,
  key: string,
  { document }: View,
  position: Position,
): ReadingState {
  const { line, jumpedTo } = position;
  const saved: SavedPosition = {
    position,
    top: document.anchorAt(line),
    jumpedTo: jumpedTo === null ? null : document.anchorAt(jumpedTo),
  };
  const others = [...state.positions].filter(([other]) => other !== key).slice(1 - MAX_POSITIONS);
  return { ...state, positions: new Map([...others, [key, saved]]) };
}

function isSame(one: Position, other: Position): boolean {
  return (
    one.line === other.line &&
    one.row === other.row &&
    one.left === other.left &&
    one.jumpedTo === other.jumpedTo &&
    one.isAtEnd === other.isAtEnd
  );
}
