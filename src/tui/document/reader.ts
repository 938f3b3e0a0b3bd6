import { halvesOf, type Line, partsOfHalf, SPLIT_FROM, say } from '../../render/line.js';
import { cellsOf } from '../../render/terminal/cells.js';
import { cutLine, widthOf } from '../../render/terminal/fit.js';
import { scrolled } from '../../render/terminal/scroll.js';
import { styleLine, type Theme } from '../../render/terminal/theme.js';
import { wrapLine } from '../../render/terminal/wrap.js';
import { lastIndexUpTo, RecentMap } from '../../util/collections.js';
import { excerpt } from '../../util/text.js';
import type { DrawnSheet } from '../ink.js';
import { cursorMark, DIVIDER } from '../layout.js';
import type { Size } from '../terminal.js';
import { type Document, type Part, Search, type Sheet } from './documents.js';

type Anchor = ReturnType<Document['anchorAt']>;

type Look = Parameters<Part['document']>[0];

interface Position {
  /** The first line on the screen. */
  readonly line: number;
  /** The number of rows of that line that have scrolled out, if lines are wrapped. */
  readonly row: number;
  /** The number of cells scrolled to the right, if lines are not wrapped. */
  readonly left: number;
  /** The line of the last jump (to a match, a hunk or a file), until the user scrolls. */
  readonly jumpedTo: number | null;
  /** The last frame showed the end, so the view follows added lines. */
  readonly isAtEnd: boolean;
}

const TOP: Position = { line: 0, row: 0, left: 0, jumpedTo: null, isAtEnd: false };

interface Style {
  isWrapped: boolean;
  layout: 'auto' | 'split' | 'unified';
  isUnfolded: boolean;
  search: Search | null;
}

/** Minimum width of a line with two halves. */
const MIN_WIDTH = 7;

/** Rows that a page repeats; headers may cover as many. */
const OVERLAP = 2;

const SIDEWAYS = 8;

/** The share of the screen above a match that was not visible before. */
const ABOVE_MATCH = 1 / 3;

/** The commands of a document. Each returns a message for the user, or null. */
const COMMANDS = {
  lineUp: view => view.scroll(-1),
  lineDown: view => view.scroll(1),
  pageUp: view => view.scroll(-Math.max(1, view.size.rows - OVERLAP)),
  pageDown: view => view.scroll(Math.max(1, view.size.rows - OVERLAP)),
  top: view => view.go({ line: 0, row: 0, jumpedTo: null }),
  bottom: view => view.go({ line: view.document.length, row: 0, jumpedTo: null }),
  left: view => view.go({ left: Math.max(0, view.position.left - SIDEWAYS) }),
  right: view => view.right(),
  nextHunk: view => view.landmark('hunk', 1),
  previousHunk: view => view.landmark('hunk', -1),
  nextFile: view => view.landmark('file', 1),
  previousFile: view => view.landmark('file', -1),
  nextMatch: view => view.match(1),
  previousMatch: view => view.match(-1),
  wrap(view) {
    view.style.isWrapped = !view.style.isWrapped;
    return view.go({ row: 0, left: 0 });
  },
  split(view) {
    if (!hasHunks(view.document)) return NO_DIFF;
    view.style.layout = isSplit(view.style, view.size.columns) ? 'unified' : 'split';
    return null;
  },
  fold(view) {
    if (view.document.isFoldable?.()) view.style.isUnfolded = !view.style.isUnfolded;
    else return hasHunks(view.document) ? 'nothing to unfold: the patch holds no more' : NO_DIFF;
    return null;
  },
} satisfies Record<string, (view: View) => string | null>;

const NO_DIFF = 'this text is not a diff';

function hasHunks(document: Document): boolean {
  return document.landmarks('hunk').length > 0;
}

function isSplit({ layout }: Style, columns: number): boolean {
  return layout === 'split' || (layout === 'auto' && columns >= SPLIT_FROM);
}

/** A document in a given area. Draws only visible lines. */
class View {
  position: Position;
  /** The heights of wrapped lines, cached because wrapping is slow. */
  readonly #heights = new Map<number, number>();

  constructor(
    readonly document: Document,
    readonly size: Size,
    position: Position,
    readonly style: Style,
    private readonly theme: Theme,
  ) {
    this.position = position;
    this.go({});
  }

  /** At most as many rows as fit, and their position: `12–34 of 5,000 · hunk 2/5 · file 1/3`. */
  draw(): { readonly rows: readonly string[]; readonly status: string } {
    const { length } = this.document;
    if (this.size.columns < MIN_WIDTH || this.size.rows < 1 || length === 0) return { rows: [], status: '' };
    const { rows, lines, first } = this.#screen();
    const { isAtEnd, line, jumpedTo } = this.position;
    // At the end of a document the position is that of the last line: the lines of the last screen never reach the top.
    const end = isAtEnd && line > 0 ? lines.at(-1) : undefined;
    const [from = 0, to = 0] = [lines[0], lines.at(-1)];
    const range = `${grouped(from + 1)}–${grouped(to + 1)} of ${grouped(length)}`;
    return { rows, status: [range, ...this.#landmarksAt(jumpedTo ?? end ?? first)].join(' · ') };
  }

  /** Changes the position within the limits of the document and the screen. */
  go(change: Partial<Position>): null {
    this.position = { ...this.position, ...change };
    const { line, row } = this.position;
    const last = Math.max(0, this.document.length - 1);
    const end = this.#moved({ line: last, row: this.#heightOf(last) - 1 }, 1 - Math.max(1, this.size.rows));
    const isAtEnd = line > end.line || (line === end.line && row >= end.row);
    const here = isAtEnd ? end : { row: Math.min(row, this.#heightOf(line) - 1) };
    this.position = { ...this.position, ...here, isAtEnd };
    return null;
  }

  scroll(rows: number): null {
    return this.go({ ...this.#moved(this.position, rows), jumpedTo: null });
  }

  right(): null {
    const { left } = this.position;
    const { lines } = this.#screen();
    const goesOn = lines.some(line => scrolled(this.document.line(line), this.size.columns).goesOn(left));
    return goesOn && !this.style.isWrapped ? this.go({ left: left + SIDEWAYS }) : null;
  }

  landmark(kind: 'hunk' | 'file', step: 1 | -1): string | null {
    const landmarks = this.document.landmarks(kind);
    const line =
      landmarks[
        step > 0 ? lastIndexUpTo(landmarks, this.#line) + 1 : lastIndexUpTo(landmarks, this.#line - 1)
      ];
    if (line === undefined) return `no ${kind} further ${step > 0 ? 'down' : 'up'}`;
    const headers = this.document.headersAt(line).length;
    return this.go({ ...this.#moved({ line, row: 0 }, -headers), jumpedTo: line });
  }

  /** Goes to the first match from here on, or else from the top. An empty text ends the search. @param words only the first line is used */
  search(words: string): string | null {
    const [wanted = ''] = words.split(/[\r\n]/, 1);
    this.style.search = wanted === '' ? null : new Search(wanted);
    return this.style.search ? this.#find(this.style.search, this.#line, 1) : this.go({ jumpedTo: null });
  }

  match(step: 1 | -1): string | null {
    const { search } = this.style;
    if (!search) return 'no search text';
    const isOnMatch = this.position.jumpedTo !== null || step < 0;
    return this.#find(search, this.#line + (isOnMatch ? step : 0), step);
  }

  #find(search: Search, from: number, step: 1 | -1): string {
    const { document } = this;
    const { length } = document;
    const { pattern, wanted } = search;
    const beyond = from >= 0 && from < length ? document.find(pattern, from, step) : null;
    const line = beyond ?? document.find(pattern, step > 0 ? 0 : length - 1, step);
    if (line === null) {
      this.go({ jumpedTo: null });
      return `not found: ${excerpt(wanted)}`;
    }
    this.#showMatch(line);
    const again = beyond === null ? `from the ${step > 0 ? 'top' : 'bottom'} again: ` : '';
    const position = search.placeIn(document, line);
    const count = position ? `${grouped(position.nth)} of ${grouped(position.of)} ` : '';
    return `${again}match ${count}on line ${grouped(line + 1)}`;
  }

  #showMatch(index: number): void {
    const { row, left } = this.#matchIn(index);
    this.go({ left, jumpedTo: index });
    const { lines, headers } = this.#screen();
    const at = lines.indexOf(index) + row - (index === this.position.line ? this.position.row : 0);
    if (lines.includes(index) && at >= headers && lines[at] === index) return;
    this.go(this.#moved({ line: index, row }, -Math.floor(this.size.rows * ABOVE_MATCH)));
  }

  /** The row of the first match in a wrapped line, or the cells to scroll to the right in an unwrapped one. */
  #matchIn(index: number): { readonly row: number; readonly left: number } {
    const { left } = this.position;
    const { columns } = this.size;
    const line = this.#lineOf(index);
    if (this.style.isWrapped) {
      const rows = wrapLine(line, columns, foundTheme(this.theme));
      return {
        row: Math.max(
          0,
          rows.findIndex(row => row.includes(FOUND)),
        ),
        left,
      };
    }
    const bodies = halvesOf(line).halves.map(half => partsOfHalf(half).body);
    const half = bodies.findIndex(body => body.some(isMatch));
    const body = bodies[half] ?? [];
    const before = body.slice(0, body.findIndex(isMatch));
    const from = widthOf(before);
    const to = widthOf(body.slice(0, before.length + 1));
    return { row: 0, left: half < 0 ? left : scrolled(line, columns).toShow(half, { from, to }, left) };
  }

  get #line(): number {
    return this.position.jumpedTo ?? this.#screen().first;
  }

  /** `hunk 2/5`, numbered per file as in the header; `file 1/3`. */
  *#landmarksAt(line: number): Generator<string> {
    const [files, hunks] = [this.document.landmarks('file'), this.document.landmarks('hunk')];
    const file = lastIndexUpTo(files, line);
    const hunksBefore = (end: number | undefined) =>
      end === undefined ? hunks.length : lastIndexUpTo(hunks, end - 1) + 1;
    const first = hunksBefore(files[file] ?? 0);
    const hunk = lastIndexUpTo(hunks, line) + 1 - first;
    if (hunk > 0) yield `hunk ${grouped(hunk)}/${grouped(hunksBefore(files[file + 1]) - first)}`;
    if (file >= 0 && files.length > 1) yield `file ${grouped(file + 1)}/${grouped(files.length)}`;
  }

  /** The rows on the screen, the line of each (for a header, the line that it covers), and the first line that is not covered. */
  #screen() {
    const { columns, rows: height } = this.size;
    const rows: string[] = [];
    const lines: number[] = [];
    for (let index = this.position.line; index < this.document.length && rows.length < height; index++) {
      const skipped = index === this.position.line ? this.position.row : 0;
      for (const row of this.#rowsOf(index).slice(skipped, skipped + height - rows.length)) {
        rows.push(row);
        lines.push(index);
      }
    }
    const headers = this.#headersOver(lines).map(line => styleLine(cutLine(line, columns), this.theme));
    const count = headers.length;
    return { rows: [...headers, ...rows.slice(count)], lines, headers: count, first: lines[count] ?? 0 };
  }

  #lineOf(index: number): Line {
    const line = this.document.line(index);
    return this.style.search?.mark(line) ?? line;
  }

  #rowsOf(index: number): readonly string[] {
    const { columns } = this.size;
    const line = this.#lineOf(index);
    const shown = this.style.isWrapped ? line : scrolled(line, columns).at(this.position.left);
    return wrapLine(shown, columns, this.theme);
  }

  /** The headers of the first line that stays visible below them. The next headers push out the previous ones. */
  #headersOver(lines: readonly number[]): readonly Line[] {
    for (const [row, line] of lines.entries()) {
      const headers = this.document.headersAt(line);
      if (headers.length <= row) return headers;
    }
    return [];
  }

  /** The position `by` rows further down (up if negative), within the document. */
  #moved(from: Pick<Position, 'line' | 'row'>, by: number): Pick<Position, 'line' | 'row'> {
    let { line } = from;
    let row = from.row + by;
    while (row < 0 && line > 0) row += this.#heightOf(--line);
    const last = this.document.length - 1;
    for (; line < last && row >= this.#heightOf(line); line++) row -= this.#heightOf(line);
    return { line, row: Math.max(0, Math.min(row, this.#heightOf(line) - 1)) };
  }

  #heightOf(line: number): number {
    if (!this.style.isWrapped) return 1;
    const { columns } = this.size;
    const height = this.#heights.get(line) ?? wrapLine(this.document.line(line), columns, this.theme).length;
    this.#heights.set(line, height);
    return height;
  }
}

/** Marks a match while its row is searched; safe text does not contain it. */
const FOUND = '\u0000';

function foundTheme(theme: Theme): Theme {
  return { ...theme, paint: span => (isMatch(span) ? `${FOUND}${span.text}` : theme.paint(span)) };
}

function isMatch({ tone }: Line[number]): boolean {
  return tone === 'match';
}

interface SheetView {
  /** The list, or the index of a part of the sheet. */
  readonly focus: 'list' | number;
  /** The part with the focus takes the whole area. */
  readonly isZoomed: boolean;
  readonly showsBytes: boolean;
}

/** A visible part of a sheet and the area for its text, below its title. */
interface Slot {
  readonly index: number;
  readonly title: Line;
  readonly document: Document;
  readonly isStream: boolean;
  readonly size: Size;
}

const TITLE = 1;

/** Minimum width for parts side by side. */
const WIDE = 100;

/** Minimum width of a heading beside the reading position. */
const MIN_HEADING = 12;

/** Minimum number of text rows of a part. */
const MIN_ROWS = 3;

/** The visible parts: side by side or stacked, or only the one with the focus. */
function slotsOf(
  parts: Sheet,
  { focus, isZoomed }: SheetView,
  { columns, rows }: Size,
  lookAt: (columns: number) => Look,
) {
  const count = parts.length;
  const isBeside = columns >= WIDE && count > 1 && !isZoomed;
  const width = isBeside ? Math.floor((columns - DIVIDER.length * (count - 1)) / count) : columns;
  const look = lookAt(width);
  const slots = parts.map(
    ({ title, document, isStream = false }, index): Slot => ({
      index,
      title,
      isStream,
      size: { columns: width, rows: Math.max(0, rows - TITLE) },
      get document() {
        return document(look); // parts that are not visible are not laid out
      },
    }),
  );
  if (isBeside) return { isBeside, slots };
  if (count === 1 || isZoomed || rows < count * (TITLE + MIN_ROWS)) {
    const index = Math.min(focus === 'list' ? 0 : focus, count - 1);
    return { isBeside, slots: slots.slice(index, index + 1) };
  }
  const lengths = slots.map(({ document }) => document.length);
  const heights = heightsOf(lengths, rows - count * TITLE);
  const sized = slots.map(slot => ({ ...slot, size: { columns, rows: heights[slot.index] ?? 0 } }));
  return { isBeside, slots: sized };
}

/** Short parts get the rows that they need, up to their share; the longest one gets the rest. */
function heightsOf(lengths: readonly number[], room: number): readonly number[] {
  const heights = lengths.map(() => 0);
  const shortFirst = [...lengths.entries()].sort(([, a], [, b]) => a - b);
  let left = room;
  for (const [nth, [index, length]] of shortFirst.entries()) {
    const share = Math.floor(left / (lengths.length - nth));
    const height = nth === lengths.length - 1 ? left : Math.min(share, Math.max(MIN_ROWS, length));
    heights[index] = height;
    left -= height;
  }
  return heights;
}

/** A position and its anchor, which restores the position under another look. */
interface SavedPosition {
  readonly position: Position;
  readonly top: Anchor;
  readonly jumpedTo: Anchor | null;
}

const MAX = 200;

/** Lays out sheets and remembers the reading position of each part. */
export class SheetReader {
  readonly #saved = new RecentMap<string, SavedPosition>(MAX);
  readonly #style: Style = { isWrapped: true, layout: 'auto', isUnfolded: false, search: null };

  /** @param highlighter loads it when it is first needed */
  constructor(
    private readonly theme: Theme,
    private readonly highlighter: () => Look['highlighter'] = () => null,
  ) {}

  /** Lays out a sheet. @param name identifies the sheet and its reading positions */
  lay(name: string, sheet: Sheet, view: SheetView, size: Size) {
    const { highlighter } = this;
    const { isUnfolded } = this.#style;
    const { slots, isBeside } = slotsOf(sheet, view, size, columns => ({
      isSplit: isSplit(this.#style, columns),
      isUnfolded,
      showsBytes: view.showsBytes,
      get highlighter() {
        return highlighter();
      },
    }));
    const focused = slots.find(({ index }) => index === view.focus) ?? slots[0];
    const read = (slot: Slot | undefined, step: (view: View) => string | null) => {
      if (!slot) return null;
      const view = this.#viewOf(name, slot);
      const said = step(view);
      this.#save(name, slot, view.position);
      return said;
    };
    return {
      count: sheet.length,
      hasHunks: () => slots.some(({ document }) => hasHunks(document)),
      draw: (): DrawnSheet => ({
        isBeside,
        parts: slots.map(slot => this.#drawPart(name, slot, slot.index === view.focus)),
      }),
      /** Executes a reading command. Returns a message for the user, or null. */
      read(command: keyof typeof COMMANDS) {
        const isForDiff = command === 'split' || command === 'fold';
        const diff = isForDiff ? slots.find(({ document }) => hasHunks(document)) : undefined;
        const isOnDiff = focused && hasHunks(focused.document);
        return read(isOnDiff ? focused : (diff ?? focused), COMMANDS[command]);
      },
      search: (wanted: string) => read(focused, view => view.search(wanted)),
    };
  }

  #drawPart(name: string, slot: Slot, isFocused: boolean): DrawnSheet['parts'][number] {
    const { title, size } = slot;
    const view = this.#viewOf(name, slot);
    if (slot.isStream) this.#save(name, slot, view.position);
    const { rows, status } = view.draw();
    const room = size.columns - cellsOf(status) - 4;
    const hasStatus = room >= MIN_HEADING;
    const heading = cutLine([cursorMark(isFocused), ...title], hasStatus ? room + 2 : size.columns);
    return {
      size,
      rows,
      heading: styleLine(heading, this.theme),
      status: hasStatus ? styleLine([say(status, 'dim')], this.theme) : '',
    };
  }

  #viewOf(name: string, slot: Slot): View {
    return new View(slot.document, slot.size, this.#positionOf(name, slot), this.#style, this.theme);
  }

  /** A reader at the end of a growing part stays at its end. */
  #positionOf(name: string, { index, document, isStream }: Slot): Position {
    const saved = this.#saved.get(`${index} ${name}`);
    if (!saved) return TOP;
    const { position, top, jumpedTo } = saved;
    if (isStream && position.isAtEnd) return { ...position, line: document.length, row: 0 };
    return { ...position, line: document.lineAt(top), jumpedTo: jumpedTo && document.lineAt(jumpedTo) };
  }

  #save(name: string, { index, document }: Slot, position: Position): void {
    const { line, jumpedTo } = position;
    const anchors = {
      top: document.anchorAt(line),
      jumpedTo: jumpedTo === null ? null : document.anchorAt(jumpedTo),
    };
    this.#saved.set(`${index} ${name}`, { position, ...anchors });
  }
}

function grouped(number: number): string {
  return number.toString().replaceAll(/\B(?=(\d{3})+$)/g, ',');
}
