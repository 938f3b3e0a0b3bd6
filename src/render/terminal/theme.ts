import { Chalk, type ChalkInstance } from 'chalk';
import wrapAnsi from 'wrap-ansi';
import { type Ground, halvesOf, type Line, partsOfHalf, type Span, type Tone } from '../line.js';
import { cellsOf, clustersOf } from './cells.js';
import type { ColourLevel } from './colour-level.js';

/** Alone it has no width; around a digit it makes both wide. */
const KEYCAP = '\u20E3';

/**
 * One letter under fifty marks can be wider than a row, and no wrapping takes it apart; left whole, it would break the layout.
 * Here every row is filled character by character, and ends in a line feed.
 */
function breakClusters(line: Line, width: number): Line {
  let cells = 0;
  const place = (character: string) => {
    const own = widthOfCharacter(character);
    const fits = cells + own <= width;
    cells = fits ? cells + own : own;
    return fits ? character : `\n${character}`;
  };
  return line.map(span => ({ ...span, text: Array.from(span.text, place).join('') }));
}

/** Cells of one character that stands by itself; characters that form one cluster never take more together. */
export function widthOfCharacter(character: string): number {
  return character === KEYCAP ? 1 : cellsOf(character);
}

interface Columns {
  /** Cells for both columns and the gap. */
  readonly width: number;
  /** Cells between the columns. */
  readonly gap: number;
}

/** Cells for each of two columns: rows must be wrapped to this before {@link sideBySide}. */
export function columnWidth({ width, gap }: Columns): number {
  return Math.max(0, Math.floor((width - gap) / 2));
}

/** Cells of the two columns beside a divider: an odd one is the right one's. */
export function halfWidths(width: number, divider: number): readonly [left: number, right: number] {
  const left = Math.max(0, Math.floor((width - divider) / 2));
  return [left, Math.max(0, width - divider - left)];
}

/** Two columns of dressed rows as one; the shorter goes on with blanks. */
export function sideBySide(left: readonly string[], right: readonly string[], columns: Columns): string[] {
  const column = columnWidth(columns);
  const gap = ' '.repeat(columns.gap);
  return Array.from({ length: Math.max(left.length, right.length) }, (_, index) => {
    const row = padEnd(left[index] ?? '', column);
    return `${row}${gap}${right[index] ?? ''}`;
  });
}

interface Divided {
  /** Cells of the left column. */
  readonly left: number;
  /** Dressed; between the columns, in every row. */
  readonly divider: string;
  /** Rows: the divider goes on below what either column says. */
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

/** Blocks of rows one below the other, a blank row between those that are not empty. */
export function stack(...blocks: readonly (readonly string[])[]): string[] {
  return blocks
    .filter(block => block.length > 0)
    .flatMap((block, index) => (index === 0 ? block : ['', ...block]));
}

/** At most `max` rows: where there are more, the last one tells how many are not shown. */
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

/** Up to here the library takes words apart itself: the longer one is, the longer it takes for each of its characters. */
const LONGEST = 1_000;
const WORDS = /[^ \n]+/g;
const ASCII = /^[ -~]*$/;

/**
 * A line in pieces that each begin a row: it is cut where the library would break its longest words.
 * @param cellsBefore where a text is wrapped, those before whatever follows it in its last row
 */
function breakLongWords(line: Line, width: number, cellsBefore: (text: string) => number): readonly Line[] {
  const text = line.map(span => span.text).join('');
  return text.length > LONGEST ? cutAt(line, [...breaksIn(text, width, cellsBefore)]) : [line];
}

/** Where in a text a row begins that such a word goes on in. */
function* breaksIn(text: string, width: number, cellsBefore: (text: string) => number): Generator<number> {
  let rowStart = 0;
  for (const { 0: word, index } of text.matchAll(WORDS)) {
    if (word.length <= LONGEST || ASCII.test(word)) continue;
    const before = cellsBefore(text.slice(rowStart, index));
    for (const at of breaksOf(word, width, startOf(word, before, width))) {
      rowStart = index + at;
      if (rowStart > 0) yield rowStart;
    }
  }
}

/** A word begins where the row before it ends, unless it takes fewer rows from the next one on. @returns cells that are taken there */
function startOf(word: string, before: number, width: number): number {
  const cells = cellsOf(word);
  const goingOn = 1 + Math.floor((cells - (width - before) - 1) / width);
  return Math.floor((cells - 1) / width) < goingOn ? width : before;
}

/** Every row is filled, cluster by cluster; what has no width does not go on for ever. @param before cells of the first one that are taken */
function* breaksOf(word: string, width: number, before: number): Generator<number> {
  let [cells, at, rowStart] = [before, 0, 0];
  for (const cluster of clustersOf(word)) {
    const own = cellsOf(cluster);
    const isFull = cells >= width || cells + own > width;
    if ((isFull && cells > 0) || at - rowStart >= LONGEST) {
      yield at;
      [cells, rowStart] = [0, at];
    }
    cells += own;
    at += cluster.length;
  }
}

/** @param places ascending, in the text of all spans */
function cutAt(line: Line, places: readonly number[]): readonly Line[] {
  const pieces: Span[][] = [[]];
  const left = places[Symbol.iterator]();
  let place = left.next();
  let at = 0;
  for (const span of line) {
    const [start, end] = [at, at + span.text.length];
    const takeUpTo = (to: number) => {
      if (to > at) pieces.at(-1)?.push({ ...span, text: span.text.slice(at - start, to - start) });
      at = to;
    };
    for (; !place.done && place.value < end; place = left.next()) {
      takeUpTo(place.value);
      pieces.push([]);
    }
    takeUpTo(end);
  }
  return pieces;
}

/** How each tone looks, and how it does on a ground. */
export type Theme = Readonly<Record<Tone, (text: string) => string>> & {
  readonly on: Readonly<Record<Ground, (text: string, tone: Tone) => string>>;
};

/** No colour: whoever wants none still sees where a match is, and where one types. */
const INVERSE = new Chalk({ level: 1 }).inverse;

/** Of the 256 colours, what can be read on a ground. */
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
 * Text has the 16 colours that the person chose for their terminal, so that it reads on dark and on light.
 * Where there are more, a changed row brings its own background and the foreground to it.
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

/** Room for text below which a hanging indent would waste the row. */
const MIN_ROOM = 10;

/** What a row stands on where its words stand on something else. */
const BELOW: Readonly<Record<Ground, Ground>> = {
  added: 'added',
  removed: 'removed',
  'added-word': 'added',
  'removed-word': 'removed',
};

/** A line as the terminal gets it. */
export function dressLine(line: Line, theme: Theme): string {
  return line.map(span => dressSpan(span, theme)).join('');
}

function dressSpan({ text, tone, ground }: Span, theme: Theme): string {
  return ground === undefined || tone === 'hidden' || tone === 'match'
    ? theme[tone](text)
    : theme.on[ground](text, tone);
}

/**
 * A line as rows of at most `width` cells (2 or more, 5 where there are halves: no wide character fits into less).
 * What stands up to the last gutter span is not repeated: the rows that follow are indented by it.
 * The halves of a line with a divider are wrapped each by itself; what stands on a ground fills its row with it.
 */
export function wrapLine(line: Line, width: number, theme: Theme): string[] {
  return wrapHow(line, { width, theme, isProse: false });
}

/** As {@link wrapLine}, for sentences: a blank at which a row ends is not at the beginning of the next. */
export function wrapProse(line: Line, width: number, theme: Theme): string[] {
  return wrapHow(line, { width, theme, isProse: true });
}

/** Lines for people, each row with its line feed; without a width, a line is one row. */
export function printed(lines: readonly Line[], theme: Theme, width?: number): string {
  const rowsOf = (line: Line) =>
    width === undefined ? [dressLine(line, theme)] : wrapProse(line, width, theme);
  return lines
    .flatMap(rowsOf)
    .map(row => `${row}\n`)
    .join('');
}

interface How {
  readonly width: number;
  readonly theme: Theme;
  readonly isProse: boolean;
}

function wrapHow(line: Line, how: How): string[] {
  const { width, theme } = how;
  const { halves, divider } = halvesOf(line);
  const [old = [], now = []] = halves;
  if (!divider) return wrapWhole(old, how);
  const [left, right] = halfWidths(width, cellsOf(divider.text));
  const columns = [
    wrapWhole(old, { ...how, width: left }),
    wrapWhole(now, { ...how, width: right }),
  ] as const;
  const height = Math.max(columns[0].length, columns[1].length);
  return divided(...columns, { left, divider: dressSpan(divider, theme), height });
}

function wrapWhole(half: Line, how: How): string[] {
  const { width, theme } = how;
  const { gutter, body } = partsOfHalf(half);
  const hung = dressLine(gutter, theme);
  const indent = cellsOf(hung);
  if (width - indent < MIN_ROOM) return wrap(half, how);
  const rows = wrap(body, { ...how, width: width - indent });
  return rows.map((row, index) => (index === 0 ? hung : ' '.repeat(indent)) + row);
}

function wrap(line: Line, how: How): string[] {
  const { width, theme } = how;
  const rows = wrapRows(line, how);
  const ground = line.find(span => span.ground !== undefined)?.ground;
  // Blanks that nobody sees would only be in the way of whoever copies a row.
  if (ground === undefined || theme.on[ground](' ', 'plain') === ' ') return rows;
  const fill = (row: string) => ' '.repeat(Math.max(0, width - cellsOf(row)));
  return rows.map(row => row + theme.on[BELOW[ground]](fill(row), 'plain'));
}

function wrapRows(line: Line, how: How): string[] {
  const cellsBefore = (text: string) => cellsOf(wrapped(`${text}.`, how).at(-1) ?? '') - 1;
  return breakLongWords(line, how.width, cellsBefore).flatMap(piece => wrapPiece(piece, how));
}

function wrapPiece(line: Line, how: How): string[] {
  const { width, theme } = how;
  const dressed = dressLine(line, theme);
  if (fits(line, width)) return [dressed];
  const rows = wrapped(dressed, how);
  if (rows.every(row => cellsOf(row) <= width)) return rows;
  return dressLine(breakClusters(line, width), theme).split('\n');
}

function wrapped(text: string, { width, isProse }: How): string[] {
  return wrapAnsi(text, width, { hard: true, trim: isProse }).split('\n');
}

/** Most lines do; to measure one takes a tenth of what it takes to wrap it. A much longer one is not even measured. */
function fits(line: Line, width: number): boolean {
  const text = line.map(span => span.text).join('');
  return text.length <= 2 * width && !text.includes('\n') && cellsOf(text) <= width;
}

const ELLIPSIS = '…';

/** A line cut to `width` cells: what does not fit is an ellipsis, in the tone of what it stands for. */
export function cutLine(line: Line, width: number): Line {
  if (widthOf(line) <= width) return line;
  const kept: Span[] = [];
  let left = width - 1;
  for (const span of line) {
    const fitting = cutLineStartOf(span.text, left);
    left -= cellsOf(fitting);
    kept.push(fitting === span.text ? span : { ...span, text: fitting + ELLIPSIS });
    if (fitting !== span.text) break;
  }
  return width < 1 ? [] : kept;
}

/** A line as wide as `width`: cut, or filled up with blanks. */
export function fitLine(line: Line, width: number): Line {
  const cut = cutLine(line, width);
  const missing = width - widthOf(cut);
  return missing > 0 ? [...cut, { text: ' '.repeat(missing), tone: 'plain' }] : cut;
}

/** Cells. */
export function widthOf(line: Line): number {
  return cellsOf(line.map(({ text }) => text).join(''));
}

/** As many characters as fit, counted one by one: that is never too few cells, whatever clusters they form. */
function cutLineStartOf(text: string, width: number): string {
  let cells = 0;
  let end = 0;
  for (const character of text) {
    cells += widthOfCharacter(character);
    if (cells > width) return text.slice(0, end);
    end += character.length;
  }
  return text;
}

/** From here on the two panes stand side by side. */
const WIDE = 120;
/** Cells between them. */
export const GAP = 3;

/** How the human's pane and the LLM's share a width: side by side where there is room, else one below the other. */
export function paneLayout(columns: number): { readonly isSideBySide: boolean; readonly width: number } {
  const isSideBySide = columns >= WIDE;
  return { isSideBySide, width: isSideBySide ? columnWidth({ width: columns, gap: GAP }) : columns };
}
