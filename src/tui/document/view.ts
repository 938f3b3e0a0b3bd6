import type { Highlighter } from '../../display/syntax.js';
import { halvesOf, type Line, partsOfHalf, type Span, withHalves } from '../../render/line.js';
import {
  cutLine,
  dressLine,
  goesOnBeyond,
  slideLine,
  slideTo,
  type Theme,
  widthOf,
  wrapLine,
} from '../../render/terminal/theme.js';
import { lastUpTo } from '../../util/collections.js';
import { excerpt } from '../../util/text.js';
import { type Document, type Landmark, type Look, searchable } from './documents.js';

/** How far a person has read in a document, and how it is laid out for them. */
export interface Reading {
  /** The first line on the screen. */
  readonly line: number;
  /** How many rows of that line have scrolled away, where it is wrapped. */
  readonly row: number;
  /** Cells scrolled to the right, where lines are not wrapped. */
  readonly left: number;
  readonly isWrapped: boolean;
  readonly layout: 'auto' | 'split' | 'unified';
  readonly isUnfolded: boolean;
  /** The text that is searched for. */
  readonly wanted: string | null;
  /** The line last gone to (a match, a hunk, a file), until one scrolls. */
  readonly spot: number | null;
  /** Nothing was below when it was last drawn: lines that are added are scrolled to. */
  readonly isAtEnd: boolean;
}

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

/** The reading after a command, and a message for the person. */
export interface Stepped {
  readonly reading: Reading;
  readonly said: string | null;
}

/** Cells of a document on the screen. */
export interface Viewport {
  readonly width: number;
  readonly height: number;
}

/** What is visible of a document. */
interface Drawn {
  /** At most as many as the viewport is high, none wider than it. */
  readonly rows: readonly string[];
  /** `12–34 of 5,000 · hunk 2/5 · file 1/3` */
  readonly status: string;
  /** Nothing is below. */
  readonly isAtEnd: boolean;
}

/** From this width on there is room for old and new side by side. */
const WIDE = 120;

/** Below this width no line with two halves can be drawn. */
const LEAST_WIDTH = 5;

/** Rows that a page repeats: headers may cover as many. */
const OVERLAP = 2;

/** Cells that are scrolled sideways. */
const SIDEWAYS = 8;

/** Of the screen, what is above a match that was out of sight. */
const ABOVE_MATCH = 1 / 3;

const NO_DIFF = 'this text is not a diff';

function isSplit({ layout }: Reading, { width }: Viewport): boolean {
  return layout === 'split' || (layout === 'auto' && width >= WIDE);
}

/** How a document is to be laid out for a reading. */
export function lookOf(reading: Reading, viewport: Viewport, highlighter: Highlighter | null): Look {
  return { isSplit: isSplit(reading, viewport), isUnfolded: reading.isUnfolded, highlighter };
}

/** The rows on the screen. */
interface Screen {
  readonly rows: readonly string[];
  /** The line of each row; for the row of a header, the line that it covers. */
  readonly lines: readonly number[];
  /** How many of the first rows are headers that have scrolled away. */
  readonly headers: number;
  /** The first line that no header covers. */
  readonly first: number;
}

/** A row of a document: its line, and which row of that line. */
type Place = Pick<Reading, 'line' | 'row'>;

/** A document in a viewport. Only visible lines are drawn. */
export class DocumentView {
  /** Of wrapped lines: wrapping costs most. */
  readonly #heights = new Map<number, number>();

  constructor(
    private readonly document: Document,
    private readonly viewport: Viewport,
    private readonly theme: Theme,
  ) {}

  draw(reading: Reading): Drawn {
    const { width, height } = this.viewport;
    const { length } = this.document;
    if (width < LEAST_WIDTH || height < 1 || length === 0) return { rows: [], status: '', isAtEnd: true };
    const here = this.#settled(reading);
    const { rows, lines, first } = this.#screen(here);
    // At the end of a document the last line counts: lines of the last screen never get to the top.
    const end = here.isAtEnd && here.line > 0 ? lines.at(-1) : undefined;
    const [from = 0, to = 0] = [lines[0], lines.at(-1)];
    const range = `${grouped(from + 1)}–${grouped(to + 1)} of ${grouped(length)}`;
    const status = [range, ...this.#landmarksAt(here.spot ?? end ?? first)].join(' · ');
    return { rows, status, isAtEnd: here.isAtEnd };
  }

  step(reading: Reading, command: ReadingCommand): Stepped {
    const stepped = this.#steps[command](this.#settled(reading));
    const { reading: next, said } = 'reading' in stepped ? stepped : { reading: stepped, said: null };
    return { reading: this.#settled(next), said };
  }

  /**
   * Goes to the first match from here on, then from the top. An empty text ends the search.
   * @param words plain text, of which the first line counts; capitals matter only where there are some
   */
  search(reading: Reading, words: string): Stepped {
    const [wanted = ''] = words.split(/[\r\n]/, 1);
    if (wanted === '') return { reading: { ...reading, wanted: null, spot: null }, said: null };
    const here = this.#settled({ ...reading, wanted });
    return this.#find(here, wanted, this.#lineAt(here), 1);
  }

  readonly #steps: Readonly<Record<ReadingCommand, (reading: Reading) => Stepped | Reading>> = {
    lineUp: reading => this.#scroll(reading, -1),
    lineDown: reading => this.#scroll(reading, 1),
    pageUp: reading => this.#scroll(reading, -Math.max(1, this.viewport.height - OVERLAP)),
    pageDown: reading => this.#scroll(reading, Math.max(1, this.viewport.height - OVERLAP)),
    top: reading => ({ ...reading, line: 0, row: 0, spot: null }),
    bottom: reading => ({ ...reading, ...this.#end(reading), spot: null }),
    left: reading => ({ ...reading, left: Math.max(0, reading.left - SIDEWAYS) }),
    right: reading => this.#right(reading),
    nextHunk: reading => this.#landmark(reading, 'hunk', 1),
    previousHunk: reading => this.#landmark(reading, 'hunk', -1),
    nextFile: reading => this.#landmark(reading, 'file', 1),
    previousFile: reading => this.#landmark(reading, 'file', -1),
    nextMatch: reading => this.#match(reading, 1),
    previousMatch: reading => this.#match(reading, -1),
    wrap: reading => ({ ...reading, isWrapped: !reading.isWrapped, row: 0, left: 0 }),
    split: reading => this.#split(reading),
    fold: reading => this.#fold(reading),
  };

  #split(reading: Reading): Stepped | Reading {
    if (!this.#hasDiff) return { reading, said: NO_DIFF };
    return { ...reading, layout: isSplit(reading, this.viewport) ? 'unified' : 'split' };
  }

  #fold(reading: Reading): Stepped | Reading {
    if (this.document.isFoldable()) return { ...reading, isUnfolded: !reading.isUnfolded };
    return { reading, said: this.#hasDiff ? 'nothing to unfold: the patch holds no more' : NO_DIFF };
  }

  get #hasDiff(): boolean {
    return this.document.landmarks('hunk').length > 0;
  }

  #scroll(reading: Reading, rows: number): Reading {
    const place = rows > 0 ? this.#below(reading, rows) : this.#above(reading, -rows);
    return { ...reading, ...place, spot: null };
  }

  #right(reading: Reading): Reading {
    const { left, isWrapped } = reading;
    const { lines } = this.#screen(reading);
    const goesOn = lines.some(line => goesOnBeyond(this.document.line(line), left, this.viewport.width));
    return goesOn && !isWrapped ? { ...reading, left: left + SIDEWAYS } : reading;
  }

  #landmark(reading: Reading, kind: Landmark, step: 1 | -1): Stepped {
    const landmarks = this.document.landmarks(kind);
    const here = this.#lineAt(reading);
    const line = landmarks[step > 0 ? lastUpTo(landmarks, here) + 1 : lastUpTo(landmarks, here - 1)];
    if (line === undefined) return { reading, said: `no ${kind} further ${step > 0 ? 'down' : 'up'}` };
    const headers = this.document.headersAt(line).length;
    const top = this.#above({ ...reading, line, row: 0 }, headers);
    return { reading: { ...reading, ...top, spot: line }, said: null };
  }

  /** The line that one is at. */
  #lineAt(reading: Reading): number {
    return reading.spot ?? this.#screen(reading).first;
  }

  #match(reading: Reading, step: 1 | -1): Stepped {
    if (reading.wanted === null) return { reading, said: 'nothing is searched for' };
    const isOnMatch = reading.spot !== null || step < 0;
    return this.#find(reading, reading.wanted, this.#lineAt(reading) + (isOnMatch ? step : 0), step);
  }

  #find(reading: Reading, wanted: string, from: number, step: 1 | -1): Stepped {
    const { document } = this;
    const find = (start: number) =>
      start >= 0 && start < document.length ? document.find(patternOf(wanted), start, step) : null;
    const beyond = find(from);
    const line = beyond ?? find(step > 0 ? 0 : document.length - 1);
    if (line === null) return { reading: { ...reading, spot: null }, said: `not found: ${excerpt(wanted)}` };
    const again = beyond === null ? `from the ${step > 0 ? 'top' : 'bottom'} again: ` : '';
    const place = placeOfMatch(document, wanted, line);
    const said = `${again}match ${place === null ? '' : `${place} `}on line ${grouped(line + 1)}`;
    return { reading: this.#toMatch(reading, line), said };
  }

  /** Scrolls only where the match of this line is out of sight. */
  #toMatch(reading: Reading, line: number): Reading {
    const { row, left } = this.#matchIn(reading, line);
    const found = { ...reading, left, spot: line };
    const { lines, headers } = this.#screen(found);
    const at = lines.indexOf(line) + row - (line === found.line ? found.row : 0);
    if (lines.includes(line) && at >= headers && lines[at] === line) return found;
    const above = this.#above({ ...found, line, row }, Math.floor(this.viewport.height * ABOVE_MATCH));
    return this.#settled({ ...found, ...above });
  }

  /** The row in which the first match of a wrapped line ends; how far to scroll to the right otherwise. */
  #matchIn(reading: Reading, index: number): { readonly row: number; readonly left: number } {
    const { width } = this.viewport;
    const { wanted, isWrapped, left } = reading;
    const line = marked(this.document.line(index), patternOf(wanted ?? ''));
    const { halves } = halvesOf(line);
    const half = halves.findIndex(spans => spans.some(isMatch));
    if (half < 0) return { row: 0, left };
    if (isWrapped) {
      const upToMatch = withHalves(line, (spans, which) => (which === half ? throughMatch(spans) : []));
      return { row: wrapLine(upToMatch, width, this.theme).length - 1, left };
    }
    const { body } = partsOfHalf(halves[half] ?? []);
    const from = widthOf(body.slice(0, body.findIndex(isMatch)));
    return { row: 0, left: slideTo(line, half, { from, to: widthOf(throughMatch(body)) }, left, width) };
  }

  /** `hunk 2/5`, counted in its file as the header does; `file 1/3`. */
  *#landmarksAt(line: number): Generator<string> {
    const [files, hunks] = [this.document.landmarks('file'), this.document.landmarks('hunk')];
    const file = lastUpTo(files, line);
    const hunksBefore = (end: number | undefined) =>
      end === undefined ? hunks.length : lastUpTo(hunks, end - 1) + 1;
    const first = hunksBefore(files[file] ?? 0);
    const hunk = lastUpTo(hunks, line) + 1 - first;
    if (hunk > 0) yield `hunk ${grouped(hunk)}/${grouped(hunksBefore(files[file + 1]) - first)}`;
    if (file >= 0 && files.length > 1) yield `file ${grouped(file + 1)}/${grouped(files.length)}`;
  }

  /** @param reading settled */
  #screen(reading: Reading): Screen {
    const { document, theme } = this;
    const { width, height } = this.viewport;
    const rows: string[] = [];
    const lines: number[] = [];
    for (let index = reading.line; index < document.length && rows.length < height; index++) {
      const skipped = index === reading.line ? reading.row : 0;
      for (const row of this.#rowsOf(reading, index).slice(skipped, skipped + height - rows.length)) {
        rows.push(row);
        lines.push(index);
      }
    }
    const headers = this.#headersOver(lines).map(line => dressLine(cutLine(line, width), theme));
    return {
      rows: [...headers, ...rows.slice(headers.length)],
      lines,
      headers: headers.length,
      first: lines[headers.length] ?? 0,
    };
  }

  #rowsOf({ wanted, isWrapped, left }: Reading, index: number): readonly string[] {
    const { width } = this.viewport;
    const line = this.document.line(index);
    const shown = wanted === null ? line : marked(line, patternOf(wanted));
    return wrapLine(isWrapped ? shown : slideLine(shown, left, width), width, this.theme);
  }

  /** The headers of the first line that they leave visible. Where the next headers arrive, those before have left. */
  #headersOver(lines: readonly number[]): readonly Line[] {
    for (const [row, line] of lines.entries()) {
      const headers = this.document.headersAt(line);
      if (headers.length <= row) return headers;
    }
    return [];
  }

  /** The reading within the document and the screen, which may have changed. */
  #settled(reading: Reading): Reading {
    const { line, row } = reading;
    const end = this.#end(reading);
    const isAtEnd = line > end.line || (line === end.line && row >= end.row);
    if (isAtEnd) return { ...reading, ...end, isAtEnd };
    return { ...reading, row: Math.min(row, this.#heightOf(reading, line) - 1), isAtEnd };
  }

  /** The first row of the last screen. */
  #end(reading: Reading): Place {
    const line = Math.max(0, this.document.length - 1);
    const last = { ...reading, line, row: this.#heightOf(reading, line) - 1 };
    return this.#above(last, Math.max(0, this.viewport.height - 1));
  }

  /** So many rows further down, and no further than the last. */
  #below(reading: Reading, rows: number): Place {
    let { line, row } = reading;
    let left = rows;
    for (; ; line++) {
      const height = this.#heightOf(reading, line);
      if (row + left < height) return { line, row: row + left };
      if (line >= this.document.length - 1) return { line, row: height - 1 };
      left -= height - row;
      row = 0;
    }
  }

  /** So many rows further up, and no further than the first. */
  #above(reading: Reading, rows: number): Place {
    let { line, row } = reading;
    let left = rows;
    while (left > row) {
      if (line === 0) return { line: 0, row: 0 };
      left -= row + 1;
      line--;
      row = this.#heightOf(reading, line) - 1;
    }
    return { line, row: row - left };
  }

  #heightOf({ isWrapped }: Reading, line: number): number {
    if (!isWrapped) return 1;
    const height =
      this.#heights.get(line) ?? wrapLine(this.document.line(line), this.viewport.width, this.theme).length;
    this.#heights.set(line, height);
    return height;
  }
}

function isMatch({ tone }: Line[number]): boolean {
  return tone === 'match';
}

/** Up to the end of the first match, which may be several spans. */
function throughMatch(spans: Line): Line {
  const start = spans.findIndex(isMatch);
  const rest = spans.slice(start).findIndex(span => !isMatch(span));
  return rest < 0 ? spans : spans.slice(0, start + rest);
}

/** As `5,000`. */
function grouped(number: number): string {
  return number.toString().replaceAll(/\B(?=(\d{3})+$)/g, ',');
}

const SYNTAX = /[\\^$.*+?()[\]{}|/]/g;

/** The pattern of words that a person typed: capitals matter only where there are some. */
function patternOf(wanted: string): RegExp {
  const isExact = wanted !== wanted.toLowerCase();
  return new RegExp(wanted.replaceAll(SYNTAX, String.raw`\$&`), isExact ? 'u' : 'iu');
}

/** Lines that match, ascending. */
interface Matches {
  readonly lines: readonly number[];
  /** There may be more below. */
  readonly isCut: boolean;
}

const MOST_MATCHES = 1_000;

/** Matches of a longer document are not counted. */
const MOST_LINES = 20_000;

const counted = new WeakMap<Document, { readonly wanted: string; readonly matches: Matches }>();

/** `2 of 17`, `2 of 1,000+`; null where the matches are not counted. A document is counted once for each word. */
function placeOfMatch(document: Document, wanted: string, line: number): string | null {
  if (document.length > MOST_LINES) return null;
  const known = counted.get(document);
  const matches = known?.wanted === wanted ? known.matches : matchesIn(document, patternOf(wanted));
  counted.set(document, { wanted, matches });
  const index = matches.lines.indexOf(line);
  const count = `${grouped(matches.lines.length)}${matches.isCut ? '+' : ''}`;
  return index < 0 ? null : `${grouped(index + 1)} of ${count}`;
}

function matchesIn(document: Document, pattern: RegExp): Matches {
  const lines: number[] = [];
  for (let from = 0; from < document.length; ) {
    const line = document.find(pattern, from, 1);
    if (line === null) break;
    if (lines.length === MOST_MATCHES) return { lines, isCut: true };
    lines.push(line);
    from = line + 1;
  }
  return { lines, isCut: false };
}

/** A line in which every match is highlighted. */
function marked(line: Line, wanted: RegExp): Line {
  const everywhere = new RegExp(wanted, `${wanted.flags}g`);
  return withHalves(line, half => {
    const { gutter, body } = partsOfHalf(half);
    const matches = [...searchable(body).matchAll(everywhere)];
    return [...gutter, ...markedBody(body, matches)];
  });
}

function markedBody(body: Line, matches: readonly RegExpExecArray[]): Line {
  let start = 0;
  return body.flatMap(span => {
    const own = matches.map(({ index, 0: words }) => ({
      from: index - start,
      to: index - start + words.length,
    }));
    start += span.text.length;
    return [...piecesOf(span, own)];
  });
}

function* piecesOf(
  span: Span,
  matches: readonly { readonly from: number; readonly to: number }[],
): Generator<Span> {
  const { text } = span;
  let at = 0;
  for (const { from, to } of matches) {
    if (to <= at || from >= text.length) continue;
    if (from > at) yield { ...span, text: text.slice(at, from) };
    yield { ...span, text: text.slice(Math.max(at, from), to), tone: 'match' };
    at = Math.min(to, text.length);
  }
  if (at < text.length || text === '') yield { ...span, text: text.slice(at) };
}
