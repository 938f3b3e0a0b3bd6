import type { Diff } from '../../display/diff-model.js';
import type { Highlighter } from '../../display/syntax.js';
import { type Part, partsOf } from '../../render/diff.js';
import { halvesOf, type Line, partsOfHalf, quote, say } from '../../render/line.js';
import type { Pane } from '../../render/panes.js';
import { lastUpTo, type Offsets, offsetsOf, RecentMap } from '../../util/collections.js';

/** Something long that is read on the screen; a line is made only when it is asked for. */
export interface Document {
  readonly length: number;
  /** A line, counted from 0; empty outside of the document. */
  line(index: number): Line;
  /** The headers above a line (file, hunk), repeated at the top of the screen once they have scrolled away. */
  headersAt(index: number): readonly Line[];
  /**
   * The nearest line at or beyond `from` in this direction whose own text (not the gutter, not our words) matches; null where none does.
   * @param wanted without anchors and without the flags `g` and `y`: it is tried on many lines at once; it matches no line feed
   */
  find(wanted: RegExp, from: number, step: 1 | -1): number | null;
  /** The lines where a hunk or a file begins, ascending. */
  landmarks(kind: Landmark): ArrayLike<number>;
  /** Whether folding or unfolding would change it. */
  isFoldable(): boolean;
  anchorAt(line: number): Anchor;
  /** The line of an anchor; where that is folded away, the fold. */
  lineAt(anchor: Anchor): number;
}

export type Landmark = 'hunk' | 'file';

/** A place in a document, the same under every look: the index of a part, then the place in that part. */
export type Anchor = readonly number[];

/** How documents are laid out. */
export interface Look {
  /** Of diffs: old and new side by side. */
  readonly isSplit: boolean;
  readonly isUnfolded: boolean;
  /** Without one, code is plain. */
  readonly highlighter: Highlighter | null;
}

/** Documents one below the other. */
export function joinedDocument(parts: readonly Document[]): Document {
  const offsets = offsetsOf(parts.map(({ length }) => length));
  const beginnings = (kind: Landmark) =>
    parts.flatMap((part, which) =>
      Array.from(part.landmarks(kind), line => line + (offsets.starts[which] ?? 0)),
    );
  const landmarks = { hunk: beginnings('hunk'), file: beginnings('file') };
  return {
    ...composed(offsets, offsets.total, which => parts[which]),
    landmarks: kind => landmarks[kind],
    isFoldable: () => parts.some(part => part.isFoldable()),
  };
}

type Places = Pick<Offsets, 'locate' | 'lengthOf'> & { readonly starts: ArrayLike<number> };

/** Parts one below the other, without landmarks and folds. */
function composed(
  { starts, locate, lengthOf }: Places,
  length: number,
  partOf: (which: number) => Document | undefined,
): Document {
  return {
    length,
    line(index) {
      const { which, at } = locate(index);
      return partOf(which)?.line(at) ?? [];
    },
    headersAt(index) {
      const { which, at } = locate(index);
      return partOf(which)?.headersAt(at) ?? [];
    },
    find(wanted, from, step) {
      let { which, at } = locate(from);
      while (which >= 0 && which < starts.length) {
        const found = partOf(which)?.find(wanted, at, step) ?? null;
        if (found !== null) return (starts[which] ?? 0) + found;
        which += step;
        at = step > 0 ? 0 : lengthOf(which) - 1;
      }
      return null;
    },
    landmarks: () => [],
    isFoldable: () => false,
    anchorAt(line) {
      const { which, at } = locate(line);
      return [which, ...(partOf(which)?.anchorAt(at) ?? [])];
    },
    lineAt: ([which = 0, ...rest]) => (starts[which] ?? 0) + (partOf(which)?.lineAt(rest) ?? 0),
  };
}

/** A diff of any length. Folded rows are not searched. */
export function diffDocument(diff: Diff, look: Look): Document {
  const joined = joinedDocument([...partsOf(diff, look)].map(partDocument));
  return {
    ...joined,
    isFoldable() {
      const other = [...partsOf(diff, { ...look, isUnfolded: !look.isUnfolded })];
      return other.reduce((sum, { height }) => sum + height, 0) !== joined.length;
    },
  };
}

function partDocument(part: Part): Document {
  return {
    length: part.height,
    line: at => part.line(at),
    headersAt: () => part.under.map(header => header()),
    find: (wanted, from, step) =>
      findLine(part.height, from, step, at => part.textsAt(at).some(text => wanted.test(text))),
    landmarks: kind => (part.begins === kind ? [0] : []),
    isFoldable: () => false,
    anchorAt: at => [part.rowAt(at)],
    lineAt: ([row = 0]) => part.lineOf(row),
  };
}

function findLine(
  length: number,
  from: number,
  step: 1 | -1,
  matches: (line: number) => boolean,
): number | null {
  for (let line = from; line >= 0 && line < length; line += step) if (matches(line)) return line;
  return null;
}

/** A document without headers and landmarks that is the same under every look. */
function simpleDocument(own: Pick<Document, 'length' | 'line' | 'find'>): Document {
  return {
    ...own,
    headersAt: () => [],
    landmarks: () => [],
    isFoldable: () => false,
    anchorAt: line => [line],
    lineAt: ([line = 0]) => Math.max(0, Math.min(line, own.length - 1)),
  };
}

/** Lines that are few, or that exist already. */
export function linesDocument(lines: readonly Line[]): Document {
  return simpleDocument({
    length: lines.length,
    line: index => lines[index] ?? [],
    find: (wanted, from, step) =>
      findLine(lines.length, from, step, index => wanted.test(ownText(lines[index] ?? []))),
  });
}

function ownText(line: Line): string {
  return halvesOf(line)
    .halves.map(half => searchable(partsOfHalf(half).body))
    .join('\n');
}

/** A text in which a search finds what stands at the same place in the line: without the pictures of hidden characters. */
export function searchable(body: Line): string {
  return body.map(({ text, tone }) => (tone === 'hidden' ? '\n'.repeat(text.length) : text)).join('');
}

/** A pane without its heading: its notes, then its drawing. */
export function paneDocument({ notes, drawing }: Pane, look: Look): Document {
  const drawn = drawing.kind === 'diff' ? diffDocument(drawing.diff, look) : textDocument(drawing.text);
  return joinedDocument([linesDocument(notes.map(note => quote(note, 'warn'))), drawn]);
}

/** A longer line goes on in the next one: terminals are slow with it. */
const MAX_LINE = 1_000;

/** Lines of a block. Only the starts of blocks are kept: those of all lines could take many times the size of the text. */
const BLOCK = 64;

/** A text of 50 MiB and more, which is read once here and never split whole. */
export function textDocument(text: string): Document {
  const starts: number[] = [];
  let length = 0;
  eachLine(text, from => {
    if (length % BLOCK === 0) starts.push(from);
    length++;
  });
  const linesOf = (block: number) => linesIn(text, starts[block] ?? text.length, starts[block + 1]);
  return simpleDocument({
    length,
    line(index) {
      if (index < 0 || index >= length) return [];
      const block = Math.floor(index / BLOCK);
      const { text: shown, goesOn } = linesOf(block)[index % BLOCK] ?? NO_LINE;
      return goesOn ? [...quote(shown), say(' …', 'dim')] : quote(shown);
    },
    find(wanted, from, step) {
      for (let block = Math.floor(from / BLOCK); block >= 0 && block < starts.length; block += step) {
        if (!wanted.test(text.slice(starts[block], starts[block + 1]))) continue; // most blocks have no match
        const lines = linesOf(block);
        const first = from - block * BLOCK;
        const start = step > 0 ? Math.max(0, first) : Math.min(first, lines.length - 1);
        const found = findLine(lines.length, start, step, at => wanted.test(lines[at]?.text ?? ''));
        if (found !== null) return block * BLOCK + found;
      }
      return null;
    },
  });
}

interface TextLine {
  readonly text: string;
  /** It is cut, and goes on in the next line. */
  readonly goesOn: boolean;
}

const NO_LINE: TextLine = { text: '', goesOn: false };

function linesIn(text: string, start: number, end?: number): readonly TextLine[] {
  const lines: TextLine[] = [];
  eachLine(text.slice(start, end), (from, to) => {
    const after = start + to;
    const goesOn = after < text.length && text[after] !== '\n';
    lines.push({ text: text.slice(start + from, after), goesOn });
  });
  return lines;
}

/** Where the lines of a text stand, without line feeds. An empty text is one empty line; a last line feed begins no line. */
function eachLine(text: string, take: (from: number, to: number) => void): void {
  let feed = -1;
  for (let from = 0; from < text.length || from === 0; ) {
    if (feed < from) {
      const next = text.indexOf('\n', from);
      feed = next < 0 ? text.length : next;
    }
    const to = Math.min(feed, wholeCharacter(text, from + MAX_LINE));
    take(from, to);
    from = to < feed ? to : feed + 1;
  }
}

/** An end that parts no surrogate pair. */
function wholeCharacter(text: string, end: number): number {
  return (text.codePointAt(end - 1) ?? 0) > 0xffff ? end + 1 : end;
}

/** Items that stay laid out: more than a screen shows. */
const LAID_OUT = 200;

/** A growing list of items one below the other: the height of each is kept, and an item is laid out again where it is read. */
export class Pile<Item> {
  readonly #items: Item[] = [];
  readonly #starts: number[] = [];
  readonly #laid = new RecentMap<number, Document>(LAID_OUT);
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

  /** All items of now. */
  get document(): Document {
    const [starts, length] = [this.#starts, this.#length];
    return composed(
      {
        starts,
        lengthOf: which => (starts[which + 1] ?? length) - (starts[which] ?? 0),
        locate(line) {
          const which = line < length ? lastUpTo(starts, line) : -1;
          return { which, at: line - (starts[which] ?? 0) };
        },
      },
      length,
      which => this.#documentOf(which),
    );
  }

  #documentOf(which: number): Document | undefined {
    const item = this.#items[which];
    if (item === undefined) return undefined;
    const document = this.#laid.get(which) ?? this.lay(item);
    this.#laid.set(which, document);
    return document;
  }
}
