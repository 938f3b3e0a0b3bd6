import { Chalk, type ChalkInstance } from 'chalk';
import type { Redactor } from '../../util/redact.js';
import { commandsIn, replacementOf, startsCommand } from '../../util/visible.js';
import {
  type Ground,
  halvesOf,
  type Line,
  lineText,
  partsOfHalf,
  type Span,
  type Tone,
  UNWRAPPED,
  withHalves,
} from '../line.js';
import { cellsOf, clustersOf } from './cells.js';
import type { ColourLevel } from './colour-level.js';

export type Theme = Readonly<Record<Tone, (text: string) => string>> & {
  readonly on: Readonly<Record<Ground, (text: string, tone: Tone) => string>>;
};

/** Matches and the cursor are visible even without colours. */
const INVERSE = new Chalk({ level: 1 }).inverse;

/** The 256-colour index of text that is readable on a background. */
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
 * Text uses the 16 colours of the user's terminal, so it is readable on dark and on light backgrounds. With more colours, changed rows have
 * a fixed background and foreground.
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

/** Every row that people see is styled here, so no row starts a CI command (threats, row 32). */
export function styleLine(line: Line, theme: Theme): string {
  return withoutCommands(line)
    .map(span => styleSpan(span, theme))
    .join('');
}

/** Replaces the beginning of CI commands that only spans together form (threats, row 32); `quote` sees one text at a time. */
function withoutCommands(line: Line): Line {
  const offsets = commandsIn(lineText(line));
  if (offsets.length === 0) return line;
  let start = 0;
  return line.flatMap(span => {
    const { text } = span;
    const pieces: Span[] = [];
    let from = 0;
    for (const at of offsets.map(offset => offset - start)) {
      if (at < 0 || at >= text.length) continue;
      const shown = replacementOf(text.charAt(at));
      pieces.push({ ...span, text: text.slice(from, at) }, { ...span, text: shown, tone: 'hidden' });
      from = at + 1;
    }
    start += text.length;
    return [...pieces, { ...span, text: text.slice(from) }].filter(piece => piece.text !== '');
  });
}

function styleSpan({ text, tone, ground }: Span, theme: Theme): string {
  return ground === undefined || tone === 'hidden' || tone === 'match'
    ? theme[tone](text)
    : theme.on[ground](text, tone);
}

export function widthOf(line: Line): number {
  return cellsOf(lineText(line));
}

/** U+20E3 has no width alone, but makes a digit before it wide. */
const KEYCAP = '\u20E3';

/** The width of a single character, in cells; a cluster is never wider than the sum of its characters. */
function widthOfCharacter(character: string): number {
  return character === KEYCAP ? 1 : cellsOf(character);
}

/** Minimum width of text beside a hanging indent. */
const MIN_ROOM = 10;

/**
 * Wraps a line into rows of at most `width` cells (at least 2, or 7 with the divider of a diff, so that a wide character fits). Following rows are
 * indented by the gutter. The halves of a line with a divider are wrapped separately. A background fills the row to its end.
 */
export function wrapLine(line: Line, width: number, theme: Theme): string[] {
  if (width === UNWRAPPED) return [styleLine(line, theme)];
  return wrapHalves(line, { width, theme, isProse: false });
}

interface StylerOptions {
  readonly level: ColourLevel;
  readonly redactor: Redactor;
}

/** Returns what prints lines, without secrets. */
export function lineStyler({ level, redactor }: StylerOptions): (lines: readonly Line[]) => string {
  const theme = createTheme(level);
  return lines => redactor.text(printed(lines, theme));
}

/** Wraps sentences, each row with its line feed; without a width, lines are not wrapped. */
export function printed(lines: readonly Line[], theme: Theme, width?: number): string {
  return lines
    .flatMap(line =>
      width === undefined ? [styleLine(line, theme)] : wrapHalves(line, { width, theme, isProse: true }),
    )
    .map(row => `${row}\n`)
    .join('');
}

interface Wrapping {
  readonly width: number;
  readonly theme: Theme;
  /** Sentences: rows do not begin or end with the blank at which the line was wrapped. */
  readonly isProse: boolean;
}

function wrapHalves(line: Line, wrapping: Wrapping): string[] {
  const { width, theme } = wrapping;
  const { halves, divider } = halvesOf(withoutCommands(line));
  const [old = [], now = []] = halves;
  if (!divider) return wrapHanging(old, wrapping);
  const [left, right] = halfWidths(width, cellsOf(divider.text));
  const columns = [
    wrapHanging(old, { ...wrapping, width: left }),
    wrapHanging(now, { ...wrapping, width: right }),
  ] as const;
  const height = Math.max(columns[0].length, columns[1].length);
  return divided(...columns, { left, divider: styleSpan(divider, theme), height });
}

function wrapHanging(half: Line, wrapping: Wrapping): string[] {
  const { gutter, body } = partsOfHalf(half);
  const indent = widthOf(gutter);
  if (wrapping.width - indent < MIN_ROOM) return wrap(half, wrapping);
  const rows = wrap(body, { ...wrapping, width: wrapping.width - indent });
  return rows.map(
    (row, index) => (index === 0 ? styleLine(gutter, wrapping.theme) : ' '.repeat(indent)) + row,
  );
}

function wrap(line: Line, { width, theme, isProse }: Wrapping): string[] {
  const text = lineText(line);
  const rows = fits(text, width) ? [line] : slicesOf(line, rowRanges(text, width, isProse));
  const ground = line.find(span => span.ground !== undefined)?.ground;
  // Trailing blanks without a background would be a nuisance when the row is copied.
  if (ground === undefined || theme.on[ground](' ', 'plain') === ' ')
    return rows.map(row => styleLine(row, theme));
  const filler = (row: Line) => ' '.repeat(Math.max(0, width - widthOf(row)));
  const fill = theme.on[ground.startsWith('added') ? 'added' : 'removed'];
  return rows.map(row => styleLine(row, theme) + fill(filler(row), 'plain'));
}

/** Much longer lines are not measured. */
function fits(text: string, width: number): boolean {
  return text.length <= 2 * width && !text.includes('\n') && cellsOf(text) <= width;
}

type Range = readonly [from: number, to: number];

/** The range of each row in a text: broken between words, and within words that are wider than a row. */
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
  /** The start of the current row, and the number of its cells in use. */
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
    if (!this.isProse && this.#cells >= this.width) this.#breakAt(at);
    this.#cells += 1;
  }

  #word(word: string, at: number): void {
    const { width } = this;
    const cells = cellsOf(word);
    if (cells > width) {
      // The word starts in this row, unless it takes fewer rows when started in the next one.
      const rowsFromHere = 1 + Math.floor((cells - (width - this.#cells) - 1) / width);
      if (Math.floor((cells - 1) / width) < rowsFromHere) this.#breakAt(at);
      for (const cluster of clustersOf(word)) at = this.#piece(cluster, at);
      return;
    }
    if (cells > 0 && this.#cells > 0 && this.#cells + cells > width) this.#breakAt(at);
    this.#cells += cells;
  }

  /** Adds a cluster, or a character of a cluster that is wider than a row, such as a letter with fifty marks. @returns its end */
  #piece(piece: string, at: number, cells = cellsOf(piece)): number {
    const characters = cells > this.width ? [...piece] : [];
    if (characters.length > 1) {
      let end = at;
      for (const character of characters) end = this.#piece(character, end, widthOfCharacter(character));
      return end;
    }
    const end = at + piece.length;
    // The next row would start with a CI command, so this character goes there too.
    const isBeforeCommand = this.#cells + cells + 1 > this.width && startsCommand(this.text, end);
    if (cells > 0 && this.#cells > 0 && (this.#cells + cells > this.width || isBeforeCommand))
      this.#breakAt(at);
    this.#cells += cells;
    return end;
  }
}

/** @param ranges ascending, in the joined text of all spans */
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

/** The widths of the two columns beside a divider, in cells; the right one gets an odd cell. */
function halfWidths(width: number, divider: number): readonly [left: number, right: number] {
  const left = Math.max(0, Math.floor((width - divider) / 2));
  return [left, Math.max(0, width - divider - left)];
}

function divided(
  left: readonly string[],
  right: readonly string[],
  { left: width, divider, height }: { left: number; divider: string; height: number },
): string[] {
  return Array.from({ length: height }, (_, index) => {
    const row = left[index] ?? '';
    return row + ' '.repeat(Math.max(0, width - cellsOf(row))) + divider + (right[index] ?? '');
  });
}

/** Minimum width for side-by-side panes. */
const WIDE = 120;
/** Gap between the panes, in cells. */
const GAP = 3;

/** How the human's and the LLM's pane share a width: side by side if there is room, else stacked. */
export function paneLayout(columns: number) {
  const isSideBySide = columns >= WIDE && columns !== UNWRAPPED;
  const width = isSideBySide ? Math.floor((columns - GAP) / 2) : columns;
  return {
    isSideBySide,
    width,
    gap: isSideBySide ? GAP : 1,
    /** Two columns of styled rows, each of this width. */
    beside(left: readonly string[], right: readonly string[]): string[] {
      const height = Math.max(left.length, right.length);
      return divided(left, right, { left: width, divider: ' '.repeat(GAP), height });
    },
  };
}

/** Cuts to `max` rows; the last one shows how many are hidden. */
export function fitRows(
  rows: readonly string[],
  max: number,
  moreLabel: (count: number) => string,
): string[] {
  if (rows.length <= max) return [...rows];
  if (max <= 0) return [];
  return [...rows.slice(0, max - 1), moreLabel(rows.length - max + 1)];
}

const ELLIPSIS = '…';

/** Cuts a line to `width` cells; an ellipsis replaces the rest, in its tone. */
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

/** The longest beginning of a text that fits. Characters are measured one by one: their clusters are never wider. */
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

export function fitLine(line: Line, width: number): Line {
  const cut = cutLine(line, width);
  const missing = width - widthOf(cut);
  return missing > 0 ? [...cut, { text: ' '.repeat(missing), tone: 'plain' }] : cut;
}

/** An unwrapped line, scrolled in an area of `width` cells; the gutter of each half stays. */
export function scrolled(line: Line, width: number) {
  const rooms = roomsOf(line, width);
  return {
    at(left: number): Line {
      return withHalves(line, (half, index) => {
        const { gutter, body } = partsOfHalf(half);
        const room = (rooms[index] ?? 0) - widthOf(gutter);
        return room > 0 ? [...gutter, ...slid(body, left, room)] : cutLine(gutter, rooms[index] ?? 0);
      });
    },
    goesOn: (left: number): boolean =>
      halvesOf(line).halves.some((half, index) => widthOf(half) - left > (rooms[index] ?? 0)),
    /** The scroll position that makes the cells `from` … `to` of one half, after its gutter, visible. */
    toShow(half: number, { from, to }: { readonly from: number; readonly to: number }, left: number): number {
      const { gutter } = partsOfHalf(halvesOf(line).halves[half] ?? []);
      const room = (rooms[half] ?? 0) - widthOf(gutter);
      return from >= left && to - left < room ? left : Math.max(0, from - Math.floor(room / 2));
    },
  };
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
    // A wide character that is half scrolled out becomes a blank.
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
  return cutLine(withoutCommands(seen), room);
}
