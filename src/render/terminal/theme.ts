import { Chalk, type ChalkInstance } from 'chalk';
import {
  type Ground,
  halvesOf,
  type Line,
  lineText,
  partsOfHalf,
  type Span,
  type Tone,
  withHalves,
} from '../line.js';
import { cellsOf, clustersOf } from './cells.js';
import type { ColourLevel } from './colour-level.js';

/** How each tone looks, alone and on a ground. */
export type Theme = Readonly<Record<Tone, (text: string) => string>> & {
  readonly on: Readonly<Record<Ground, (text: string, tone: Tone) => string>>;
};

/** Even without colours, a match and the cursor can be seen. */
const INVERSE = new Chalk({ level: 1 }).inverse;

/** Of the 256 colours, those that can be read on a ground. */
const INK = 255;
const INKS: Partial<Readonly<Record<Tone, number>>> = {
  dim: 250,
  keyword: 213,
  string: 222,
  number: 159,
  comment: 250,
  type: 123,
  function: 117,
  name: 195,
};

/**
 * Text has the 16 colours that the user chose for their terminal, so it can be read on dark and on light. With more colours, a
 * changed row has a background and a foreground of ours.
 */
export function createTheme(level: ColourLevel): Theme {
  const chalk = new Chalk({ level });
  return {
    plain: text => text,
    title: chalk.bold,
    dim: chalk.dim,
    good: chalk.green,
    bad: chalk.red,
    warn: chalk.yellow,
    running: chalk.cyan,
    hidden: chalk.inverse,
    selected: chalk.inverse,
    match: INVERSE,
    cursor: INVERSE,
    gutter: chalk.dim,
    divider: chalk.dim,
    hunk: chalk.cyan,
    added: chalk.green,
    removed: chalk.red,
    keyword: chalk.magenta,
    string: chalk.yellow,
    number: chalk.cyan,
    comment: chalk.dim,
    type: chalk.cyan,
    function: chalk.blue,
    name: chalk.blue,
    on: level >= 2 ? backgrounds(chalk) : foregrounds(chalk),
  };
}

function backgrounds(chalk: ChalkInstance): Theme['on'] {
  const on = (ground: number) => (text: string, tone: Tone) =>
    chalk.bgAnsi256(ground)(chalk.ansi256(INKS[tone] ?? INK)(text));
  return { added: on(22), removed: on(52), 'added-word': on(28), 'removed-word': on(124) };
}

function foregrounds({ green, red }: ChalkInstance): Theme['on'] {
  return {
    added: text => green(text),
    removed: text => red(text),
    'added-word': text => green.bold.underline(text),
    'removed-word': text => red.bold.underline(text),
  };
}

/** A line as the terminal gets it. */
export function dressLine(line: Line, theme: Theme): string {
  return line.map(span => dressSpan(span, theme)).join('');
}

function dressSpan({ text, tone, ground }: Span, theme: Theme): string {
  return ground === undefined || tone === 'hidden' || tone === 'match'
    ? theme[tone](text)
    : theme.on[ground](text, tone);
}

/** Cells. */
export function widthOf(line: Line): number {
  return cellsOf(lineText(line));
}

/** Has no width alone; around a digit it makes both wide. */
const KEYCAP = '\u20E3';

/** Cells of a character alone; the cluster of several never takes more than all of them alone. */
function widthOfCharacter(character: string): number {
  return character === KEYCAP ? 1 : cellsOf(character);
}

/** Room for text below which a hanging indent would waste the row. */
const MIN_ROOM = 10;

/**
 * A line as rows of at most `width` cells (2 or more, 5 with a divider: a wide character needs that much).
 * The gutter is not repeated: the following rows are indented by it. The halves of a line with a divider are wrapped separately.
 * A ground fills the row to its end.
 */
export function wrapLine(line: Line, width: number, theme: Theme): string[] {
  return wrapHalves(line, { width, theme, isProse: false });
}

/** {@link wrapLine} for sentences: no row begins or ends with the blank at which the line was wrapped. */
function wrapProse(line: Line, width: number, theme: Theme): string[] {
  return wrapHalves(line, { width, theme, isProse: true });
}

/** Sentences, each row with its line feed; without a width, a line is one row. */
export function printed(lines: readonly Line[], theme: Theme, width?: number): string {
  return lines
    .flatMap(line => (width === undefined ? [dressLine(line, theme)] : wrapProse(line, width, theme)))
    .map(row => `${row}\n`)
    .join('');
}

interface Wrapping {
  readonly width: number;
  readonly theme: Theme;
  readonly isProse: boolean;
}

function wrapHalves(line: Line, wrapping: Wrapping): string[] {
  const { width, theme } = wrapping;
  const { halves, divider } = halvesOf(line);
  const [old = [], now = []] = halves;
  if (!divider) return wrapHanging(old, wrapping);
  const [left, right] = halfWidths(width, cellsOf(divider.text));
  const columns = [
    wrapHanging(old, { ...wrapping, width: left }),
    wrapHanging(now, { ...wrapping, width: right }),
  ] as const;
  const height = Math.max(columns[0].length, columns[1].length);
  return divided(...columns, { left, divider: dressSpan(divider, theme), height });
}

function wrapHanging(half: Line, wrapping: Wrapping): string[] {
  const { gutter, body } = partsOfHalf(half);
  const indent = widthOf(gutter);
  if (wrapping.width - indent < MIN_ROOM) return wrap(half, wrapping);
  const rows = wrap(body, { ...wrapping, width: wrapping.width - indent });
  return rows.map(
    (row, index) => (index === 0 ? dressLine(gutter, wrapping.theme) : ' '.repeat(indent)) + row,
  );
}

function wrap(line: Line, { width, theme, isProse }: Wrapping): string[] {
  const text = lineText(line);
  const rows = fits(text, width) ? [line] : slicesOf(line, rowRanges(text, width, isProse));
  const ground = line.find(span => span.ground !== undefined)?.ground;
  // Without a background, blanks at the end of a row would only be in the way when it is copied.
  if (ground === undefined || theme.on[ground](' ', 'plain') === ' ')
    return rows.map(row => dressLine(row, theme));
  const filler = (row: Line) => ' '.repeat(Math.max(0, width - widthOf(row)));
  const fill = theme.on[ground.startsWith('added') ? 'added' : 'removed'];
  return rows.map(row => dressLine(row, theme) + fill(filler(row), 'plain'));
}

/** A much longer line is not even measured. */
function fits(text: string, width: number): boolean {
  return text.length <= 2 * width && !text.includes('\n') && cellsOf(text) <= width;
}

type Range = readonly [from: number, to: number];

/** Where each row of a text is in it: broken between words, and within a word that is wider than a row. */
function rowRanges(text: string, width: number, isProse: boolean): Range[] {
  const rows: Range[] = [];
  let feed = -1;
  for (const paragraph of text.split('\n')) {
    const start = feed + 1;
    feed = start + paragraph.length;
    for (const [from, to] of new Rows(paragraph, width, isProse).ranges)
      rows.push([start + from, start + to]);
  }
  return rows;
}

class Rows {
  readonly ranges: Range[] = [];
  /** Where the current row begins, and how many of its cells are taken. */
  #start = 0;
  #cells = 0;

  constructor(
    readonly text: string,
    readonly width: number,
    readonly isProse: boolean,
  ) {
    let at = 0;
    for (const word of text.split(' ')) {
      if (at > 0) this.#blank(at - 1);
      this.#word(word, at);
      at += word.length + 1;
    }
    this.#breakAt(text.length);
  }

  #breakAt(at: number): void {
    const end = this.isProse ? this.text.slice(this.#start, at).trimEnd().length + this.#start : at;
    this.ranges.push([this.#start, end]);
    this.#start = at;
    this.#cells = 0;
  }

  #blank(at: number): void {
    if (this.isProse && this.#cells === 0) {
      this.#start = at + 1;
      return;
    }
    if (!this.isProse && this.#cells >= this.width) this.#breakAt(at);
    this.#cells += 1;
  }

  #word(word: string, at: number): void {
    const { width } = this;
    const cells = cellsOf(word);
    if (cells > width) {
      // It begins in this row, unless it takes fewer rows from the next one on.
      const rowsFromHere = 1 + Math.floor((cells - (width - this.#cells) - 1) / width);
      if (Math.floor((cells - 1) / width) < rowsFromHere) this.#breakAt(at);
      for (const cluster of clustersOf(word)) at = this.#piece(cluster, at);
      return;
    }
    if (cells > 0 && this.#cells > 0 && this.#cells + cells > width) this.#breakAt(at);
    this.#cells += cells;
  }

  /** A cluster, or a character of one that is wider than a row, such as a letter under fifty marks. @returns where it ends */
  #piece(piece: string, at: number, cells = cellsOf(piece)): number {
    const characters = cells > this.width ? [...piece] : [];
    if (characters.length > 1) {
      let end = at;
      for (const character of characters) end = this.#piece(character, end, widthOfCharacter(character));
      return end;
    }
    if (cells > 0 && this.#cells > 0 && this.#cells + cells > this.width) this.#breakAt(at);
    this.#cells += cells;
    return at + piece.length;
  }
}

/** @param ranges ascending, in the text of all spans */
function slicesOf(line: Line, ranges: readonly Range[]): Line[] {
  let index = 0;
  let start = 0;
  return ranges.map(([from, to]) => {
    const row: Span[] = [];
    for (; index < line.length; index++) {
      const span = line[index] as Span;
      const end = start + span.text.length;
      if (end > from) row.push({ ...span, text: span.text.slice(Math.max(0, from - start), to - start) });
      if (end > to) break;
      start = end;
    }
    return row.filter(({ text }) => text !== '');
  });
}

/** Cells of the two columns beside a divider: an odd cell goes to the right one. */
function halfWidths(width: number, divider: number): readonly [left: number, right: number] {
  const left = Math.max(0, Math.floor((width - divider) / 2));
  return [left, Math.max(0, width - divider - left)];
}

interface Divided {
  /** Cells of the left column. */
  readonly left: number;
  /** Dressed; between the columns, in every row. */
  readonly divider: string;
  /** Rows, also where both columns are shorter. */
  readonly height: number;
}

/** Two columns of dressed rows with a line between them. */
export function divided(
  left: readonly string[],
  right: readonly string[],
  { left: width, divider, height }: Divided,
): string[] {
  return Array.from(
    { length: height },
    (_, index) => padEnd(left[index] ?? '', width) + divider + (right[index] ?? ''),
  );
}

/** From this width on the two panes are side by side. */
const WIDE = 120;
/** Cells between them. */
export const GAP = 3;

/** How the human's pane and the LLM's share a width: side by side where there is room, else one below the other. */
export function paneLayout(columns: number): { readonly isSideBySide: boolean; readonly width: number } {
  const isSideBySide = columns >= WIDE;
  return { isSideBySide, width: isSideBySide ? Math.floor((columns - GAP) / 2) : columns };
}

/** Two columns of dressed rows, each of the width that {@link paneLayout} gives it. */
export function sideBySide(left: readonly string[], right: readonly string[], width: number): string[] {
  const height = Math.max(left.length, right.length);
  return divided(left, right, { left: width, divider: ' '.repeat(GAP), height });
}

/** At most `max` rows; the last one says how many are not shown. */
export function fitRows(
  rows: readonly string[],
  max: number,
  moreLabel: (count: number) => string,
): string[] {
  if (rows.length <= max) return [...rows];
  if (max <= 0) return [];
  return [...rows.slice(0, max - 1), moreLabel(rows.length - max + 1)];
}

/** Filled up with blanks to so many cells. */
export function padEnd(row: string, width: number): string {
  return row + ' '.repeat(Math.max(0, width - cellsOf(row)));
}

const ELLIPSIS = '…';

/** A line cut to `width` cells: an ellipsis stands for what does not fit, in its tone. */
export function cutLine(line: Line, width: number): Line {
  if (widthOf(line) <= width) return line;
  const kept: Span[] = [];
  let left = width - 1;
  for (const span of line) {
    const fitting = startOf(span.text, left);
    left -= cellsOf(fitting);
    kept.push(fitting === span.text ? span : { ...span, text: fitting + ELLIPSIS });
    if (fitting !== span.text) break;
  }
  return width < 1 ? [] : kept;
}

/** As many characters as fit. They are measured one by one: their clusters never take more cells. */
function startOf(text: string, width: number): string {
  let cells = 0;
  let end = 0;
  for (const character of text) {
    cells += widthOfCharacter(character);
    if (cells > width) return text.slice(0, end);
    end += character.length;
  }
  return text;
}

/** A line as wide as `width`: cut, or filled up with blanks. */
export function fitLine(line: Line, width: number): Line {
  const cut = cutLine(line, width);
  const missing = width - widthOf(cut);
  return missing > 0 ? [...cut, { text: ' '.repeat(missing), tone: 'plain' }] : cut;
}

/** A line that is not wrapped, scrolled by `left` cells; the gutter of each half stays. */
export function slideLine(line: Line, left: number, width: number): Line {
  const rooms = roomsOf(line, width);
  return withHalves(line, (half, index) => {
    const { gutter, body } = partsOfHalf(half);
    const room = (rooms[index] ?? 0) - widthOf(gutter);
    return room > 0 ? [...gutter, ...slid(body, left, room)] : cutLine(gutter, rooms[index] ?? 0);
  });
}

/** Whether there is more of a line to the right. */
export function goesOnBeyond(line: Line, left: number, width: number): boolean {
  const rooms = roomsOf(line, width);
  return halvesOf(line).halves.some((half, index) => widthOf(half) - left > (rooms[index] ?? 0));
}

/** How far to scroll so that the cells `from` … `to` of one half, past its gutter, are visible. */
export function slideTo(
  line: Line,
  half: number,
  { from, to }: { readonly from: number; readonly to: number },
  left: number,
  width: number,
): number {
  const { gutter } = partsOfHalf(halvesOf(line).halves[half] ?? []);
  const room = (roomsOf(line, width)[half] ?? 0) - widthOf(gutter);
  return from >= left && to - left < room ? left : Math.max(0, from - Math.floor(room / 2));
}

function roomsOf(line: Line, width: number): readonly number[] {
  const { divider } = halvesOf(line);
  return divider ? halfWidths(width, cellsOf(divider.text)) : [width];
}

function slid(body: Line, left: number, room: number): Line {
  const seen: Span[] = [];
  let cells = -left;
  const place = (character: string) => {
    const before = cells;
    cells += widthOfCharacter(character);
    if (before >= 0) return before === 0 && cells === 0 && left > 0 ? '' : character;
    // A wide character that is half scrolled away leaves a blank.
    return ' '.repeat(Math.max(0, cells));
  };
  for (const span of body) {
    let text = '';
    for (const character of span.text) {
      text += place(character);
      if (cells > room) break;
    }
    seen.push({ ...span, text });
    if (cells > room) break;
  }
  return cutLine(seen, room);
}
