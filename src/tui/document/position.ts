import { halvesOf, type Line, partsOfHalf, withHalves } from '../../render/line.js';
import {
  cutLine,
  dressLine,
  slideLine,
  slideTo,
  type Theme,
  widthOf,
  wrapLine,
} from '../../render/terminal/theme.js';
import { excerpt } from '../../util/excerpt.js';
import { type Document, grouped, marked, matchesIn, patternOf, whichOf } from './search.js';

/** How far a person has read in a document, and how it is laid out for them. */
export interface Reading {
  /** The first line on the screen. */
  readonly line: number;
  /** Where that is wrapped: how many of its rows have scrolled away. */
  readonly row: number;
  /** Cells scrolled to the right, where lines are not wrapped. */
  readonly left: number;
  readonly isWrapped: boolean;
  readonly layout: 'auto' | 'split' | 'unified';
  readonly isUnfolded: boolean;
  /** What is searched for, as it was typed. */
  readonly wanted: string | null;
  /** The line last gone to (a match, a hunk, a file), until one scrolls. */
  readonly spot: number | null;
  /** Nothing was below when it was last seen: whoever reads what is added to goes on from there. */
  readonly isAtEnd: boolean;
}

/** At the top of something that nobody has read in yet. */
export const FIRST_READING: Reading = {
  line: 0,
  row: 0,
  left: 0,
  isWrapped: true,
  layout: 'auto',
  isUnfolded: false,
  wanted: null,
  spot: null,
  isAtEnd: false,
};

/** The rows and columns that a document has on the screen. */
export interface Viewport {
  readonly width: number;
  readonly height: number;
}

export type ReadingCommand =
  | 'lineUp'
  | 'lineDown'
  | 'pageUp'
  | 'pageDown'
  | 'left'
  | 'right'
  | 'top'
  | 'bottom'
  | 'nextHunk'
  | 'previousHunk'
  | 'nextFile'
  | 'previousFile'
  | 'wrap'
  | 'split'
  | 'fold'
  | 'nextMatch'
  | 'previousMatch';

/** What came of a command: `said` is for the person, in our own words. */
export interface Stepped {
  readonly reading: Reading;
  readonly said: string | null;
}

/** What is read, and where it is seen. */
export interface Scene {
  readonly document: Document;
  readonly viewport: Viewport;
  readonly theme: Theme;
  /** How many rows a line takes where it is wrapped: one at least. */
  readonly heightOf: (index: number) => number;
}

/** Each height is found out once: wrapping is what costs most. */
export function sceneOf(document: Document, viewport: Viewport, theme: Theme): Scene {
  const known = new Map<number, number>();
  const heightOf = (index: number) => {
    const height = known.get(index) ?? wrapLine(document.line(index), viewport.width, theme).length;
    known.set(index, height);
    return height;
  };
  return { document, viewport, theme, heightOf };
}

/** How many rows a line takes as it is read. */
function heightAt({ isWrapped }: Reading, index: number, { heightOf }: Scene): number {
  return isWrapped ? heightOf(index) : 1;
}

/** Draws lines as they are read. */
function drawerOf(reading: Reading, { viewport, theme }: Scene): (line: Line) => readonly string[] {
  const { isWrapped, left, wanted } = reading;
  const { width } = viewport;
  const pattern = wanted === null ? null : patternOf(wanted);
  return line => {
    const drawn = pattern ? marked(line, pattern) : line;
    return wrapLine(isWrapped ? drawn : slideLine(drawn, left, width), width, theme);
  };
}

/** What is seen of a document: its rows, and the headers that took the place of the first of them. */
export interface Screen {
  readonly rows: readonly string[];
  /** The lines that these rows are of; of a header's row, the line that it covers. */
  readonly lines: readonly number[];
  /** How many of the first rows are headers that have scrolled away. */
  readonly headers: number;
}

/** Only what is seen is drawn. @param reading settled */
export function screenOf(reading: Reading, scene: Scene): Screen {
  const { document, viewport, theme } = scene;
  const draw = drawerOf(reading, scene);
  const rows: string[] = [];
  const lines: number[] = [];
  for (let line = reading.line; line < document.length && rows.length < viewport.height; line++) {
    const own = draw(document.line(line)).slice(line === reading.line ? reading.row : 0);
    for (const row of own.slice(0, viewport.height - rows.length)) {
      rows.push(row);
      lines.push(line);
    }
  }
  const headers = headersOver(lines, scene).map(line => dressLine(cutLine(line, viewport.width), theme));
  return { rows: [...headers, ...rows.slice(headers.length)], lines, headers: headers.length };
}

/** Those of the first line that they leave to be seen. Where the next headers arrive, those before have left. */
function headersOver(lines: readonly number[], { document }: Scene) {
  for (const [row, line] of lines.entries()) {
    const headers = document.headersAt(line);
    if (headers.length <= row) return headers;
  }
  return [];
}

/** The first line that no header covers. */
export function firstSeen(screen: Screen): number {
  return screen.lines[screen.headers] ?? 0;
}

/** A row of a document: of which line, and which of that line's. */
type Place = Pick<Reading, 'line' | 'row'>;

/** So many rows further down, and no further than the last. */
export function below(reading: Reading, rows: number, scene: Scene): Place {
  let { line, row } = reading;
  let left = rows;
  for (; ; line++) {
    const height = heightAt(reading, line, scene);
    if (row + left < height) return { line, row: row + left };
    if (line >= scene.document.length - 1) return { line, row: height - 1 };
    left -= height - row;
    row = 0;
  }
}

/** So many rows further up, and no further than the first. */
export function above(reading: Reading, rows: number, scene: Scene): Place {
  let { line, row } = reading;
  let left = rows;
  while (left > row) {
    if (line === 0) return { line: 0, row: 0 };
    left -= row + 1;
    line--;
    row = heightAt(reading, line, scene) - 1;
  }
  return { line, row: row - left };
}

/** The first row of the last screen. */
export function last(reading: Reading, scene: Scene): Place {
  const line = Math.max(0, scene.document.length - 1);
  const end = { ...reading, line, row: heightAt(reading, line, scene) - 1 };
  return above(end, Math.max(0, scene.viewport.height - 1), scene);
}

/** The same reading where there is something to read: the document or the screen may have become another. */
export function settled(reading: Reading, scene: Scene): Reading {
  const { line, row } = reading;
  const end = last(reading, scene);
  const isAtEnd = line > end.line || (line === end.line && row >= end.row);
  if (isAtEnd) return { ...reading, ...end, isAtEnd };
  return { ...reading, row: Math.min(row, heightAt(reading, line, scene) - 1), isAtEnd };
}

/** The first match of a line: in which of its rows it ends, where it is wrapped; how far to the right one must scroll, where not. */
function matchIn(
  line: Line,
  { wanted, isWrapped, left }: Reading,
  { viewport, theme }: Scene,
): { readonly row: number; readonly left: number } {
  const drawn = marked(line, patternOf(wanted ?? ''));
  const { halves } = halvesOf(drawn);
  const half = halves.findIndex(spans => spans.some(isMatch));
  if (half < 0) return { row: 0, left };
  if (isWrapped) return { row: wrapLine(upToMatch(drawn, half), viewport.width, theme).length - 1, left };
  const { body } = partsOfHalf(halves[half] ?? []);
  const [from, to] = [widthOf(before(body)), widthOf(through(body))];
  return { row: 0, left: slideTo(drawn, half, { from, to }, left, viewport.width) };
}

function upToMatch(line: Line, half: number): Line {
  return withHalves(line, (spans, index) => (index === half ? through(spans) : []));
}

function before(spans: Line): Line {
  return spans.slice(0, spans.findIndex(isMatch));
}

/** A match that goes over several spans ends with the last of them that follow each other. */
function through(spans: Line): Line {
  const start = spans.findIndex(isMatch);
  const rest = spans.slice(start).findIndex(span => !isMatch(span));
  return rest < 0 ? spans : spans.slice(0, start + rest);
}

function isMatch({ tone }: Line[number]): boolean {
  return tone === 'match';
}

/** Of the screen, what stands above a match that was not in sight. */
const ABOVE = 1 / 3;

/** The reading with this line at the top, below its headers; no further down than the last screen. */
export function atTop(reading: Reading, line: number, scene: Scene): Reading {
  const headers = scene.document.headersAt(line).length;
  const place = above({ ...reading, line, row: 0 }, headers, scene);
  return settled({ ...reading, ...place, spot: line }, scene);
}

/** The reading with the match of this line in sight: it stays where it is, unless that is not seen. */
function atMatch(reading: Reading, line: number, scene: Scene): Reading {
  const { row, left } = matchIn(scene.document.line(line), reading, scene);
  const found = { ...reading, left, spot: line };
  if (isSeen(found, { line, row }, scene)) return found;
  const before = Math.floor(scene.viewport.height * ABOVE);
  return settled({ ...found, ...above({ ...found, line, row }, before, scene) }, scene);
}

function isSeen(reading: Reading, { line, row }: Pick<Reading, 'line' | 'row'>, scene: Scene): boolean {
  const { lines, headers } = screenOf(reading, scene);
  const hidden = line === reading.line ? reading.row : 0;
  const first = lines.indexOf(line);
  const at = first + row - hidden;
  return first >= 0 && at >= headers && lines[at] === line;
}

/**
 * Goes to the first match from here on, from the top again where there is none below. Nothing to look for ends the search.
 * @param words plain text; capitals matter only where it has some; only the first line of what was pasted
 */
export function search(
  reading: Reading,
  words: string,
  document: Document,
  viewport: Viewport,
  theme: Theme,
): Stepped {
  const [wanted = ''] = words.split(/[\r\n]/, 1);
  if (wanted === '') return { reading: { ...reading, wanted: null, spot: null }, said: null };
  const scene = sceneOf(document, viewport, theme);
  const here = settled({ ...reading, wanted }, scene);
  return nextMatch(here, wanted, hereIn(here, scene), 1, scene);
}

/** To the next match beyond the one that was last gone to, or beyond what stands above what is seen. */
export function stepMatch(reading: Reading, step: 1 | -1, scene: Scene): Stepped {
  if (reading.wanted === null) return { reading, said: 'nothing is searched for' };
  const from = reading.spot === null && step > 0 ? hereIn(reading, scene) : hereIn(reading, scene) + step;
  return nextMatch(reading, reading.wanted, from, step, scene);
}

/** The line that one is at. */
export function hereIn(reading: Reading, scene: Scene): number {
  return reading.spot ?? firstSeen(screenOf(reading, scene));
}

function nextMatch(reading: Reading, wanted: string, from: number, step: 1 | -1, scene: Scene): Stepped {
  const { document } = scene;
  const pattern = patternOf(wanted);
  const find = (start: number) =>
    start >= 0 && start < document.length ? document.find(pattern, start, step) : null;
  const beyond = find(from);
  const found = beyond ?? find(step > 0 ? 0 : document.length - 1);
  if (found === null) return { reading: { ...reading, spot: null }, said: `not found: ${excerpt(wanted)}` };
  const again = step > 0 ? 'from the top again: ' : 'from the bottom again: ';
  const said = `${beyond === null ? again : ''}${matchWords(document, wanted, found)}`;
  return { reading: atMatch(reading, found, scene), said };
}

/** Several matches on a line are one place to go to. */
function matchWords(document: Document, wanted: string, line: number): string {
  const which = whichOf(matchesIn(document, wanted), line);
  return `match ${which === null ? '' : `${which} `}on line ${grouped(line + 1)}`;
}
