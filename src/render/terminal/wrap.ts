import { startsCommand } from '../../util/ci-commands.js';
import type { Redactor } from '../../util/redact.js';
import { type Ground, halvesOf, type Line, lineText, partsOfHalf, type Span, UNWRAPPED } from '../line.js';
import type { Background } from './background.js';
import { cellsOf, clustersOf, widthOfCharacter } from './cells.js';
import type { ColourLevel } from './colour-level.js';
import { widthOf } from './fit.js';
import { type Colours, createTheme, type Palette, styleLine, type Theme, withoutCommands } from './theme.js';

/** Minimum width of text beside a hanging indent. */
const MIN_ROOM = 10;

/**
 * Wraps a line into rows of at most `width` cells (at least 2, or 7 with the divider of a diff, so that a wide character fits). Following rows are
 * indented by the gutter. The halves of a line with a divider are wrapped separately. A background fills the row to its end.
 */
export function wrapRows(line: Line, width: number, palette?: Palette): readonly Line[] {
  if (width === UNWRAPPED) return [line];
  return wrapHalves(line, { width, palette, isProse: false });
}

/** The same, as rows to print. */
export function wrapLine(line: Line, width: number, theme: Theme): string[] {
  return wrapRows(line, width, theme.palette).map(row => styleLine(row, theme));
}

interface StylerOptions {
  readonly level: ColourLevel;
  readonly background: Background;
  readonly redactor: Redactor;
}

/** Returns what prints lines, without secrets. */
export function lineStyler({
  level,
  background,
  redactor,
}: StylerOptions): (lines: readonly Line[]) => string {
  const theme = createTheme(level, background);
  return lines => redactor.text(printed(lines, theme));
}

/** Wraps sentences, each row with its line feed; without a width, lines are not wrapped. */
export function printed(lines: readonly Line[], theme: Theme, width?: number): string {
  const { palette } = theme;
  return lines
    .flatMap(line => (width === undefined ? [line] : wrapHalves(line, { width, palette, isProse: true })))
    .map(row => `${styleLine(row, theme)}\n`)
    .join('');
}

/** Returns what prints lines as they are, before Ink is loaded. */
export function linesPrinter({ level, background }: Colours): (lines: readonly Line[]) => string {
  const theme = createTheme(level, background);
  return lines => lines.map(line => styleLine(line, theme)).join('\n');
}

interface Wrapping {
  readonly width: number;
  /** Without a palette, no background fills a row. */
  readonly palette?: Palette | undefined;
  /** Sentences: rows do not begin or end with the blank at which the line was wrapped. */
  readonly isProse: boolean;
}

function wrapHalves(line: Line, wrapping: Wrapping): readonly Line[] {
  const { halves, divider } = halvesOf(withoutCommands(line));
  const [old = [], now = []] = halves;
  if (!divider) return wrapHanging(old, wrapping);
  const [left, right] = halfWidths(wrapping.width, cellsOf(divider.text));
  const before = wrapHanging(old, { ...wrapping, width: left });
  const after = wrapHanging(now, { ...wrapping, width: right });
  return Array.from({ length: Math.max(before.length, after.length) }, (_, row) => [
    ...padded(before[row] ?? [], left),
    divider,
    ...(after[row] ?? []),
  ]);
}

function wrapHanging(half: Line, wrapping: Wrapping): readonly Line[] {
  const { gutter, body } = partsOfHalf(half);
  const indent = widthOf(gutter);
  if (wrapping.width - indent < MIN_ROOM) return wrap(half, wrapping);
  const rows = wrap(body, { ...wrapping, width: wrapping.width - indent });
  return rows.map((row, index) => [...(index === 0 ? gutter : padded([], indent)), ...row]);
}

function wrap(line: Line, { width, palette, isProse }: Wrapping): readonly Line[] {
  const text = lineText(line);
  const rows = fits(text, width) ? [line] : slicesOf(line, rowRanges(text, width, isProse));
  const ground = line.find(span => span.ground !== undefined)?.ground;
  // Trailing blanks without a background would be a nuisance when the row is copied.
  if (ground === undefined || !palette?.inks) return rows;
  return rows.map(row => padded(row, width, ground.startsWith('added') ? 'added' : 'removed'));
}

function padded(row: Line, width: number, ground?: Ground): Line {
  const missing = width - widthOf(row);
  if (missing <= 0) return row;
  const blank = { text: ' '.repeat(missing), tone: 'plain' } as const;
  return [...row, ground === undefined ? blank : { ...blank, ground }];
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
    for (const [from, to] of rowsOf(paragraph, width, isProse)) rows.push([start + from, start + to]);
  }
  return rows;
}

function rowsOf(text: string, width: number, isProse: boolean): Range[] {
  const ranges: Range[] = [];
  /** The start of the current row, and the number of its cells in use. */
  let start = 0;
  let cells = 0;

  const breakAt = (at: number) => {
    const end = isProse ? text.slice(start, at).trimEnd().length + start : at;
    ranges.push([start, end]);
    start = at;
    cells = 0;
  };

  const addBlank = (at: number) => {
    if (!isProse && cells >= width) breakAt(at);
    cells += 1;
  };

  const addWord = (word: string, at: number) => {
    const wordCells = cellsOf(word);
    if (wordCells > width) {
      addLongWord(word, wordCells, at);
      return;
    }
    if (wordCells > 0 && cells > 0 && cells + wordCells > width) breakAt(at);
    cells += wordCells;
  };

  const addLongWord = (word: string, wordCells: number, at: number) => {
    // The word starts in this row, unless it takes fewer rows when started in the next one.
    const rowsFromHere = 1 + Math.floor((wordCells - (width - cells) - 1) / width);
    if (Math.floor((wordCells - 1) / width) < rowsFromHere) breakAt(at);
    let end = at;
    for (const cluster of clustersOf(word)) {
      addCluster(cluster, end);
      end += cluster.length;
    }
  };

  /** A cluster that is wider than a row, such as a letter with fifty marks, is broken between its characters. */
  const addCluster = (cluster: string, at: number) => {
    const clusterCells = cellsOf(cluster);
    const characters = [...cluster];
    if (clusterCells <= width || characters.length === 1) {
      addPiece(cluster, clusterCells, at);
      return;
    }
    let end = at;
    for (const character of characters) {
      addPiece(character, widthOfCharacter(character), end);
      end += character.length;
    }
  };

  const addPiece = (piece: string, pieceCells: number, at: number) => {
    // The next row would start with a CI command, so this character goes there too.
    const isBeforeCommand = cells + pieceCells + 1 > width && startsCommand(text, at + piece.length);
    if (pieceCells > 0 && cells > 0 && (cells + pieceCells > width || isBeforeCommand)) breakAt(at);
    cells += pieceCells;
  };

  let at = 0;
  for (const word of text.split(' ')) {
    if (at > 0) addBlank(at - 1);
    addWord(word, at);
    at += word.length + 1;
  }
  breakAt(text.length);
  return ranges;
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
export function halfWidths(width: number, divider: number): readonly [left: number, right: number] {
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
