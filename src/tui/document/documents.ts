import type { Diff } from '../../display/diff-model.js';
import type { Highlighter } from '../../display/syntax.js';
import { type Part, partsOf } from '../../render/diff.js';
import { type Line, quote, say } from '../../render/line.js';
import type { Pane } from '../../render/panes.js';
import { goesOnBeyond, type Theme } from '../../render/terminal/theme.js';
import { offsetsOf } from '../../util/bounded.js';
import { RecentMap } from '../../util/json-diagnosis.js';
import { lastUpTo } from '../../util/strings-in.js';
import {
  above,
  atTop,
  below,
  firstSeen,
  hereIn,
  last,
  type Reading,
  type ReadingCommand,
  type Scene,
  type Screen,
  type Stepped,
  sceneOf,
  screenOf,
  settled,
  stepMatch,
  type Viewport,
} from './position.js';
import { type Document, findAcross, grouped, type Landmark, type Look, ownText } from './search.js';

/** A diff of any length: where each of its parts begins is found out once, here. Folded rows are not searched: they are not seen. */
export function diffDocument(diff: Diff, look: Look): Document {
  const parts = [...partsOf(diff, look)];
  const offsets = offsetsOf(parts.map(({ height }) => height));
  const beginning = (kind: Landmark) => offsets.starts.filter((_, which) => parts[which]?.begins === kind);
  const landmarks = { hunk: beginning('hunk'), file: beginning('file') };
  return {
    length: offsets.total,
    line(index) {
      const { which, at } = offsets.locate(index);
      return parts[which]?.line(at) ?? [];
    },
    headersAt(index) {
      const { which } = offsets.locate(index);
      return parts[which]?.under.map(header => header()) ?? [];
    },
    find: (wanted, from, step) =>
      findAcross(offsets, from, step, (which, at) => findIn(parts[which], wanted, at, step)),
    landmarks: kind => landmarks[kind],
    isFoldable: () => heightOf(partsOf(diff, { ...look, isUnfolded: !look.isUnfolded })) !== offsets.total,
    anchorAt(line) {
      const { which, at } = offsets.locate(line);
      return [which, parts[which]?.rowAt(at) ?? 0];
    },
    lineAt: ([which = 0, row = 0]) => (offsets.starts[which] ?? 0) + (parts[which]?.lineOf(row) ?? 0),
  };
}

function heightOf(parts: Iterable<Part>): number {
  let sum = 0;
  for (const { height } of parts) sum += height;
  return sum;
}

function findIn(part: Part | undefined, wanted: RegExp, from: number, step: 1 | -1): number | null {
  const height = part?.height ?? 0;
  for (let at = from; at >= 0 && at < height; at += step)
    if (part?.textsAt(at).some(text => wanted.test(text))) return at;
  return null;
}

/** Documents one below the other. */
export function joinedDocument(parts: readonly Document[]): Document {
  const offsets = offsetsOf(parts.map(({ length }) => length));
  const beginning = (kind: Landmark) =>
    parts.flatMap((part, which) =>
      Array.from(part.landmarks(kind), line => line + (offsets.starts[which] ?? 0)),
    );
  const landmarks = { hunk: beginning('hunk'), file: beginning('file') };
  return {
    length: offsets.total,
    line(index) {
      const { which, at } = offsets.locate(index);
      return parts[which]?.line(at) ?? [];
    },
    headersAt(index) {
      const { which, at } = offsets.locate(index);
      return parts[which]?.headersAt(at) ?? [];
    },
    find: (wanted, from, step) =>
      findAcross(offsets, from, step, (which, at) => parts[which]?.find(wanted, at, step) ?? null),
    landmarks: kind => landmarks[kind],
    isFoldable: () => parts.some(part => part.isFoldable()),
    anchorAt(line) {
      const { which, at } = offsets.locate(line);
      return [which, ...(parts[which]?.anchorAt(at) ?? [])];
    },
    lineAt: ([which = 0, ...rest]) => (offsets.starts[which] ?? 0) + (parts[which]?.lineAt(rest) ?? 0),
  };
}

/** What has the same lines under every look. */
function unfolded(length: number): Pick<Document, 'isFoldable' | 'anchorAt' | 'lineAt'> {
  return {
    isFoldable: () => false,
    anchorAt: line => [line],
    lineAt: ([line = 0]) => Math.max(0, Math.min(line, length - 1)),
  };
}

/** Lines that are few, or that are there already. */
export function linesDocument(lines: readonly Line[]): Document {
  return {
    length: lines.length,
    line: index => lines[index] ?? [],
    headersAt: () => [],
    find(wanted, from, step) {
      for (let index = from; index >= 0 && index < lines.length; index += step)
        if (wanted.test(ownText(lines[index] ?? []))) return index;
      return null;
    },
    landmarks: () => [],
    ...unfolded(lines.length),
  };
}

/** A longer line goes on in the next one: a terminal would choke on it. */
const MAX_LINE = 1_000;
/** So many lines are a block. Only where blocks begin is remembered, or a text of line feeds would cost many times its size. */
const BLOCK = 64;

/** Where in a string a line stands, without its line feed. */
interface Extent {
  readonly from: number;
  readonly to: number;
}

/** The lines of a text, which is never split whole: it may be 50 MiB. */
interface TextIndex {
  /** How many lines there are. */
  readonly length: number;
  /** A line; whether it was cut, and goes on in the next one. */
  at(index: number): { readonly text: string; readonly goesOn: boolean };
  /** The nearest line at or beyond `from` in this direction that matches. */
  find(wanted: RegExp, from: number, step: 1 | -1): number | null;
}

/** Reads the text once. */
function indexText(text: string): TextIndex {
  const { starts, length } = blocksOf(text);
  const startOf = (block: number) => starts[block] ?? text.length;
  const cut = (block: number) => text.slice(startOf(block), startOf(block + 1));
  return {
    length,
    at(index) {
      const block = Math.floor(index / BLOCK);
      const start = startOf(block);
      const { from, to } = extentsOf(cut(block))[index % BLOCK] ?? { from: 0, to: 0 };
      const end = start + to;
      return { text: text.slice(start + from, end), goesOn: end < text.length && text[end] !== '\n' };
    },
    find(wanted, from, step) {
      for (let block = Math.floor(from / BLOCK); block >= 0 && block < starts.length; block += step) {
        const found = textIndexFindIn(cut(block), wanted, from - block * BLOCK, step);
        if (found !== null) return block * BLOCK + found;
      }
      return null;
    },
  };
}

function blocksOf(text: string): { readonly starts: Uint32Array; readonly length: number } {
  const starts: number[] = [];
  let length = 0;
  eachLine(text, from => {
    if (length % BLOCK === 0) starts.push(from);
    length++;
  });
  return { starts: Uint32Array.from(starts), length };
}

function extentsOf(block: string): readonly Extent[] {
  const extents: Extent[] = [];
  eachLine(block, (from, to) => extents.push({ from, to }));
  return extents;
}

/** Most blocks have no match at all, and are tried as one. */
function textIndexFindIn(block: string, wanted: RegExp, from: number, step: 1 | -1): number | null {
  if (!wanted.test(block)) return null;
  const extents = extentsOf(block);
  for (let index = step > 0 ? Math.max(0, from) : Math.min(from, extents.length - 1); ; index += step) {
    const extent = extents[index];
    if (!extent) return null;
    if (wanted.test(block.slice(extent.from, extent.to))) return index;
  }
}

/** An empty text is one empty line; after a last line feed there is none. */
function eachLine(text: string, take: (from: number, to: number) => void): void {
  let feed = -1;
  for (let from = 0; from < text.length || from === 0; ) {
    if (feed < from) feed = feedFrom(text, from);
    const to = Math.min(feed, wholeCharacters(text, from + MAX_LINE));
    take(from, to);
    from = to < feed ? to : feed + 1;
  }
}

function feedFrom(text: string, from: number): number {
  const feed = text.indexOf('\n', from);
  return feed < 0 ? text.length : feed;
}

/** Half of a surrogate pair would be shown as something hidden. */
function wholeCharacters(text: string, end: number): number {
  return (text.codePointAt(end - 1) ?? 0) > 0xffff ? end + 1 : end;
}

/** A text of up to 50 MiB and more; it is read once, here. */
export function textDocument(text: string): Document {
  const lines = indexText(text);
  return {
    length: lines.length,
    line(index) {
      if (index < 0 || index >= lines.length) return [];
      const { text: shown, goesOn } = lines.at(index);
      return goesOn ? [...quote(shown), say(' …', 'dim')] : quote(shown);
    },
    headersAt: () => [],
    find: lines.find,
    landmarks: () => [],
    ...unfolded(lines.length),
  };
}

/** A pane without its heading: its notes, then its drawing. */
export function paneDocument({ notes, drawing }: Pane, look: Look): Document {
  const drawn = drawing.kind === 'diff' ? diffDocument(drawing.diff, look) : textDocument(drawing.text);
  return joinedDocument([linesDocument(notes.map(note => quote(note, 'warn'))), drawn]);
}

/**
 * Where one is, in our own words: `12–34 of 5,000 · hunk 2/5 · file 1/3`.
 * @param lines that are seen
 * @param here the line that one is at
 */
function statusOf(document: Document, lines: readonly number[], here: number): string {
  const [from = 0, to = 0] = [lines[0], lines.at(-1)];
  const range = `${grouped(from + 1)}–${grouped(to + 1)} of ${grouped(document.length)}`;
  return [range, ...hunkOf(document, here), ...fileOf(document, here)].join(' · ');
}

function* fileOf(document: Document, here: number): Generator<string> {
  const files = document.landmarks('file');
  const file = lastUpTo(files, here);
  if (file >= 0 && files.length > 1) yield `file ${grouped(file + 1)}/${grouped(files.length)}`;
}

/** Among those of its file, as its header counts it. */
function* hunkOf(document: Document, here: number): Generator<string> {
  const [files, hunks] = [document.landmarks('file'), document.landmarks('hunk')];
  const file = lastUpTo(files, here);
  const upTo = (line: number | undefined) =>
    line === undefined ? hunks.length : lastUpTo(hunks, line - 1) + 1;
  const first = upTo(files[file] ?? 0);
  const hunk = lastUpTo(hunks, here) + 1 - first;
  if (hunk > 0) yield `hunk ${grouped(hunk)}/${grouped(upTo(files[file + 1]) - first)}`;
}

/** What is seen of a document, and where that is. */
export interface Drawn {
  /** At most as many as the viewport is high, none wider than it. */
  readonly rows: readonly string[];
  /** `12–34 of 5,000 · hunk 2/5` */
  readonly status: string;
  /** Nothing is below. */
  readonly isAtEnd: boolean;
}

/** Below it, no line with two halves can be drawn. */
const LEAST_WIDTH = 5;

/** What a person sees of a document. */
export function drawReading(reading: Reading, document: Document, viewport: Viewport, theme: Theme): Drawn {
  if (viewport.width < LEAST_WIDTH || viewport.height < 1 || document.length === 0)
    return { rows: [], status: '', isAtEnd: true };
  const scene = sceneOf(document, viewport, theme);
  const here = settled(reading, scene);
  const screen = screenOf(here, scene);
  const status = statusOf(document, screen.lines, lineRead(here, screen));
  return { rows: screen.rows, status, isAtEnd: here.isAtEnd };
}

/** Whoever has scrolled to the end reads what is last, be it as short as it may: nothing of it ever gets to the top. */
function lineRead({ spot, line, isAtEnd }: Reading, screen: Screen): number {
  if (spot !== null) return spot;
  return (isAtEnd && line > 0 ? screen.lines.at(-1) : undefined) ?? firstSeen(screen);
}

/** Things that stay laid out, at least: more than a screen has. */
const LAID = 200;

/** Things one below the other, of which more and more come: how high each is, is remembered, and it is laid out where it is read. */
export class Pile<Item> {
  readonly #items: Item[] = [];
  readonly #starts: number[] = [];
  readonly #laid = new RecentMap<number, Document>(LAID);
  #length = 0;

  constructor(private readonly lay: (item: Item) => Document) {}

  get count(): number {
    return this.#items.length;
  }

  add(item: Item): void {
    this.#items.push(item);
    this.#starts.push(this.#length);
    this.#length += this.lay(item).length;
  }

  /** All of them by now. */
  get document(): Document {
    const length = this.#length;
    const places = { starts: this.#starts, locate: this.#locate, lengthOf: this.#lengthOf };
    return {
      length,
      line: index => {
        const { which, at } = this.#locate(index);
        return this.#documentOf(which)?.line(at) ?? [];
      },
      headersAt: () => [],
      find: (wanted, from, step) =>
        findAcross(
          places,
          from,
          step,
          (which, at) => this.#documentOf(which)?.find(wanted, at, step) ?? null,
        ),
      landmarks: () => [],
      ...unfolded(length),
    };
  }

  readonly #locate = (line: number) => {
    const which = line < this.#length ? lastUpTo(this.#starts, line) : -1;
    return { which, at: line - (this.#starts[which] ?? 0) };
  };

  readonly #lengthOf = (which: number) =>
    (this.#starts[which + 1] ?? this.#length) - (this.#starts[which] ?? 0);

  #documentOf(which: number): Document | undefined {
    const item = this.#items[which];
    if (item === undefined) return undefined;
    const document = this.#laid.get(which) ?? this.lay(item);
    this.#laid.set(which, document);
    return document;
  }
}

/** From here on there is room for old and new beside each other. */
const WIDE = 120;

function isSplit({ layout }: Reading, { width }: Viewport): boolean {
  return layout === 'split' || (layout === 'auto' && width >= WIDE);
}

/** How a document is to be laid out for a reading. */
export function lookOf(reading: Reading, viewport: Viewport, highlighter: Highlighter | null): Look {
  return { isSplit: isSplit(reading, viewport), isUnfolded: reading.isUnfolded, highlighter };
}

/** Headers cover as many rows of a page: they are seen at the end of the page before. */
const OVERLAP = 2;
/** Cells. */
const SIDEWAYS = 8;

type Step = (reading: Reading, scene: Scene) => Stepped | Reading;

const STEPS: Readonly<Record<ReadingCommand, Step>> = {
  lineUp: (reading, scene) => scrolled(reading, -1, scene),
  lineDown: (reading, scene) => scrolled(reading, 1, scene),
  pageUp: (reading, scene) => scrolled(reading, -pageOf(scene), scene),
  pageDown: (reading, scene) => scrolled(reading, pageOf(scene), scene),
  top: reading => ({ ...reading, line: 0, row: 0, spot: null }),
  bottom: (reading, scene) => ({ ...reading, ...last(reading, scene), spot: null }),
  left: reading => ({ ...reading, left: Math.max(0, reading.left - SIDEWAYS) }),
  right: toTheRight,
  nextHunk: (reading, scene) => landmark(reading, 'hunk', 1, scene),
  previousHunk: (reading, scene) => landmark(reading, 'hunk', -1, scene),
  nextFile: (reading, scene) => landmark(reading, 'file', 1, scene),
  previousFile: (reading, scene) => landmark(reading, 'file', -1, scene),
  nextMatch: (reading, scene) => stepMatch(reading, 1, scene),
  previousMatch: (reading, scene) => stepMatch(reading, -1, scene),
  wrap: reading => ({ ...reading, isWrapped: !reading.isWrapped, row: 0, left: 0 }),
  split,
  fold,
};

/** What a command does to a reading of a document; what that alone does not show is said. */
export function stepReading(
  reading: Reading,
  command: ReadingCommand,
  document: Document,
  viewport: Viewport,
  theme: Theme,
): Stepped {
  const scene = sceneOf(document, viewport, theme);
  const stepped = STEPS[command](settled(reading, scene), scene);
  const { reading: next, said } = 'reading' in stepped ? stepped : { reading: stepped, said: null };
  return { reading: settled(next, scene), said };
}

function split(reading: Reading, { document, viewport }: Scene): Stepped {
  if (!hasDiff(document)) return { reading, said: NO_DIFF };
  return {
    reading: { ...reading, layout: isSplit(reading, viewport) ? 'unified' : 'split' },
    said: null,
  };
}

function fold(reading: Reading, { document }: Scene): Stepped {
  if (document.isFoldable()) return { reading: { ...reading, isUnfolded: !reading.isUnfolded }, said: null };
  return { reading, said: hasDiff(document) ? 'nothing to unfold: the patch holds no more' : NO_DIFF };
}

const NO_DIFF = 'there is no diff here';

function hasDiff(document: Document): boolean {
  return document.landmarks('hunk').length > 0;
}

function scrolled(reading: Reading, rows: number, scene: Scene): Reading {
  const place = rows > 0 ? below(reading, rows, scene) : above(reading, -rows, scene);
  return { ...reading, ...place, spot: null };
}

function pageOf({ viewport }: Scene): number {
  return Math.max(1, viewport.height - OVERLAP);
}

/** Only where something is further to the right. */
function toTheRight(reading: Reading, scene: Scene): Reading {
  const { document, viewport } = scene;
  const { left, isWrapped } = reading;
  const goesOn = screenOf(reading, scene).lines.some(line =>
    goesOnBeyond(document.line(line), left, viewport.width),
  );
  return goesOn && !isWrapped ? { ...reading, left: left + SIDEWAYS } : reading;
}

function landmark(reading: Reading, kind: Landmark, step: 1 | -1, scene: Scene): Stepped {
  const landmarks = scene.document.landmarks(kind);
  const here = hereIn(reading, scene);
  const at = step > 0 ? lastUpTo(landmarks, here) + 1 : lastUpTo(landmarks, here - 1);
  const line = landmarks[at];
  if (line === undefined) return { reading, said: `no ${kind} further ${step > 0 ? 'down' : 'up'}` };
  return { reading: atTop(reading, line, scene), said: null };
}
