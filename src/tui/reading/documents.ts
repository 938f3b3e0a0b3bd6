import { type Part as DiffPart, partsOf } from '../../render/diff.js';
import {
  halvesOf,
  type Line,
  lineText,
  partsOfHalf,
  quote,
  redactLine,
  type Span,
  say,
} from '../../render/line.js';
import { type Pane, paneHeading } from '../../render/panes.js';
import type { Highlighter } from '../../render/syntax.js';
import type { Diff } from '../../segments/diff.js';
import { lastIndexUpTo, Memo, memoizeByObject, RecentMap } from '../../util/collections.js';
import { codePointEnd } from '../../util/text.js';

/** A long text to read on the screen; its lines are created lazily. Lines may be added at its end; a line never changes. */
export interface Document {
  readonly length: number;
  line(index: number): Line;
  /** The headers above a line (file, hunk), repeated at the top of the screen once they have scrolled out. */
  headersAt(index: number): readonly Line[];
  /**
   * The nearest line from `from` on in this direction whose text (without gutter and headings) matches; null without a match.
   * @param wanted tested on many lines at once, so it must not match a line feed
   */
  find(wanted: RegExp, from: number, step: 1 | -1): number | null;
  /** The lines where a hunk or a file begins, ascending. */
  landmarks(kind: 'hunk' | 'file'): ArrayLike<number>;
  /** Whether folding or unfolding would change the document. */
  isFoldable?(): boolean;
  anchorAt(line: number): Anchor;
  /** The line of an anchor, or the fold that hides it. */
  lineAt(anchor: Anchor): number;
}

/** A position in a document that does not depend on the look: the index of a part, then the position in that part. */
export type Anchor = readonly number[];

interface Look {
  readonly isSplit: boolean;
  readonly isUnfolded: boolean;
  /** Without a highlighter, code has no colours. */
  readonly highlighter: Highlighter | null;
}

/** Minimum number of parts that stay laid out: more than a screen shows. */
const LAID_OUT = 200;

/** Documents below one another, with their landmarks. It can grow, and lays out parts again when they are read. */
class JoinedDocument implements Document {
  length = 0;
  readonly #makers: (() => Document)[] = [];
  readonly #laidOut = new RecentMap<number, Document>(LAID_OUT);
  readonly #starts: number[] = [];
  readonly #landmarks: Record<'hunk' | 'file', number[]> = { hunk: [], file: [] };

  get count(): number {
    return this.#makers.length;
  }

  /** Adds a part that cannot be folded. @param make called when the part is read, unless it is still laid out */
  add(make: () => Document): void {
    const part = make();
    for (const kind of ['hunk', 'file'] as const)
      for (const line of Array.from(part.landmarks(kind))) this.#landmarks[kind].push(line + this.length);
    this.#makers.push(make);
    this.#starts.push(this.length);
    this.length += part.length;
  }

  line(index: number): Line {
    const { part, at } = this.#locate(index);
    return part?.line(at) ?? [];
  }

  headersAt(index: number): readonly Line[] {
    const { part, at } = this.#locate(index);
    return part?.headersAt(at) ?? [];
  }

  find(wanted: RegExp, from: number, step: 1 | -1): number | null {
    let { which, part, at } = this.#locate(from);
    while (part) {
      const found = part.find(wanted, at, step);
      if (found !== null) return this.#startOf(which) + found;
      which += step;
      part = this.#part(which);
      at = step > 0 ? 0 : (part?.length ?? 0) - 1;
    }
    return null;
  }

  landmarks(kind: 'hunk' | 'file'): ArrayLike<number> {
    return this.#landmarks[kind];
  }

  isFoldable?(): boolean;

  anchorAt(line: number): Anchor {
    const { which, part, at } = this.#locate(line);
    return [which, ...(part?.anchorAt(at) ?? [])];
  }

  lineAt([which = 0, ...rest]: Anchor): number {
    return this.#startOf(which) + (this.#part(which)?.lineAt(rest) ?? 0);
  }

  #startOf(which: number): number {
    return this.#starts[which] ?? 0;
  }

  #locate(line: number) {
    const which = line < this.length ? lastIndexUpTo(this.#starts, line) : -1;
    return { which, part: this.#part(which), at: line - this.#startOf(which) };
  }

  #part(which: number): Document | undefined {
    const make = this.#makers[which];
    return make && this.#laidOut.of(which, make);
  }
}

export function joinedDocument(parts: readonly Document[]): JoinedDocument {
  const joined = new JoinedDocument();
  for (const part of parts) joined.add(() => part);
  joined.isFoldable = () => parts.some(part => part.isFoldable?.());
  return joined;
}

export function diffDocument(diff: Diff, look: Look): Document {
  const joined = joinedDocument([...partsOf(diff, look)].map(partDocument));
  joined.isFoldable = () => {
    const other = [...partsOf(diff, { ...look, isUnfolded: !look.isUnfolded })];
    return other.reduce((sum, { height }) => sum + height, 0) !== joined.length;
  };
  return joined;
}

function partDocument(part: DiffPart): Document {
  return {
    length: part.height,
    line: at => part.line(at),
    headersAt: () => part.under.map(header => header()),
    find: (wanted, from, step) =>
      findLine(part.height, from, step, at => part.textsAt(at).some(text => wanted.test(text))),
    landmarks: kind => (part.begins === kind ? [0] : []),
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

/** A document without headers and landmarks that does not depend on the look. */
function simpleDocument(own: Pick<Document, 'length' | 'line' | 'find'>): Document {
  return {
    ...own,
    headersAt: () => [],
    landmarks: () => [],
    anchorAt: line => [line],
    lineAt: ([line = 0]) => Math.max(0, Math.min(line, own.length - 1)),
  };
}

export function linesDocument(lines: readonly Line[]): Document {
  const textOf = (line: Line) =>
    halvesOf(line)
      .halves.map(half => searchable(partsOfHalf(half).body))
      .join('\n');
  return simpleDocument({
    length: lines.length,
    line: index => lines[index] ?? [],
    find: (wanted, from, step) =>
      findLine(lines.length, from, step, index => wanted.test(textOf(lines[index] ?? []))),
  });
}

export interface PartLook extends Look {
  /** The timeline shows raw messages. */
  readonly showsBytes: boolean;
}

export interface Part {
  readonly title: Line;
  /** Called for each frame, so it must not lay out large contents again. */
  readonly document: (look: PartLook) => Document;
  /** The part grows at its end: a reader at the end stays at the end. */
  readonly isStream?: boolean;
  /** Called after each frame that shows the part. */
  readonly onDrawn?: () => void;
}

/** Returns what removes secrets from what is shown of a part. */
export function partRedactor(redact: (text: string) => string): (part: Part) => Part {
  const clean = memoizeByObject((document: Document): Document => {
    const lines = (all: readonly Line[]) => all.map(line => redactLine(line, redact));
    return {
      get length() {
        return document.length;
      },
      line: index => redactLine(document.line(index), redact),
      headersAt: index => lines(document.headersAt(index)),
      find: (wanted, from, step) => document.find(wanted, from, step),
      landmarks: kind => document.landmarks(kind),
      isFoldable: () => document.isFoldable?.() ?? false,
      anchorAt: line => document.anchorAt(line),
      lineAt: anchor => document.lineAt(anchor),
    };
  });
  return memoizeByObject((part: Part): Part => ({ ...part, document: look => clean(part.document(look)) }));
}

/** What a tab shows of an entry. */
export type Sheet = readonly Part[];

export function onePart(title: Line, lines: readonly Line[], isStream = false): Sheet {
  const document = linesDocument(lines);
  return [{ title, document: () => document, isStream }];
}

/** A pane as a part, laid out once for each look. */
export function panePart(pane: Pane, title = paneHeading(pane)): Part {
  const documents = new Memo<Document>();
  const isDiff = pane.drawing.kind === 'diff';
  return {
    title,
    document: look =>
      documents.of(isDiff ? [look.isSplit, look.isUnfolded, look.highlighter] : [], () =>
        paneDocument(pane, look),
      ),
  };
}

function paneDocument({ notes, drawing }: Pane, look: Look): Document {
  const drawn = drawing.kind === 'diff' ? diffDocument(drawing.diff, look) : textDocument(drawing.text);
  return joinedDocument([linesDocument(notes.map(note => quote(note, 'warn'))), drawn]);
}

/** Maximum length of a line, in characters; the rest continues on the next line, since terminals are slow with long ones. */
const MAX_LINE = 1_000;

/** Ends a line that continues on the next one. */
const GOES_ON = say(' …', 'dim');

/** Lines per block. Only the starts of blocks are kept: the starts of all lines could take many times the size of the text. */
const BLOCK = 64;

/** A document for a text of 50 MiB and more: read once here, never split whole. */
export function textDocument(text: string): Document {
  const starts: number[] = [];
  let length = 0;
  eachLine(text, from => {
    if (length % BLOCK === 0) starts.push(from);
    length++;
  });
  const textsIn = (block: number) => {
    const start = starts[block] ?? text.length;
    const lines: { readonly text: string; readonly goesOn: boolean }[] = [];
    eachLine(text.slice(start, starts[block + 1]), (from, to) => {
      const after = start + to;
      const goesOn = after < text.length && text[after] !== '\n';
      lines.push({ text: text.slice(start + from, after), goesOn });
    });
    return lines;
  };
  return simpleDocument({
    length,
    line(index) {
      const line = index < length ? textsIn(Math.floor(index / BLOCK))[index % BLOCK] : undefined;
      if (!line) return [];
      return line.goesOn ? [...quote(line.text), GOES_ON] : quote(line.text);
    },
    find(wanted, from, step) {
      for (let block = Math.floor(from / BLOCK); block >= 0 && block < starts.length; block += step) {
        if (!wanted.test(text.slice(starts[block], starts[block + 1]))) continue; // most blocks have no match
        const lines = textsIn(block);
        const first = from - block * BLOCK;
        const start = step > 0 ? Math.max(0, first) : Math.min(first, lines.length - 1);
        const found = findLine(lines.length, start, step, at => wanted.test(lines[at]?.text ?? ''));
        if (found !== null) return block * BLOCK + found;
      }
      return null;
    },
  });
}

/** Calls `take` with the range of each line, without line feeds. An empty text is one empty line; a trailing line feed starts no line. */
function eachLine(text: string, take: (from: number, to: number) => void): void {
  let feed = -1;
  for (let from = 0; from < text.length || from === 0; ) {
    if (feed < from) {
      const next = text.indexOf('\n', from);
      feed = next < 0 ? text.length : next;
    }
    const end = from + MAX_LINE;
    const isInPair = (text.codePointAt(end - 1) ?? 0) > 0xffff;
    const to = Math.min(feed, isInPair ? end + 1 : end);
    take(from, to);
    from = to < feed ? to : feed + 1;
  }
}

/** The text of a line for a search: line feeds replace the pictures of hidden characters, so that offsets stay the same. */
export function searchable(body: Line): string {
  return body.map(({ text, tone }) => (tone === 'hidden' ? '\n'.repeat(text.length) : text)).join('');
}

/** Maximum length of a text to copy, in characters. */
const MAX_COPIED = 1_000_000;

/** A text to copy, without the line numbers and margins of the screen. */
export function copyOf(document: Document): string {
  const lines: string[] = [];
  let [text, length] = ['', 0];
  for (let index = 0; index < document.length && length <= MAX_COPIED; index++) {
    const line = document.line(index);
    const own = lineText(line.filter(span => span !== GOES_ON && !isMargin(span)));
    length += own.length + 1;
    text += own;
    if (line.at(-1) === GOES_ON) continue;
    lines.push(text);
    text = '';
  }
  const whole = [...lines, ...(text === '' ? [] : [text])].join('\n');
  return whole.length <= MAX_COPIED ? whole : whole.slice(0, codePointEnd(whole, MAX_COPIED - 1));
}

/** Only the signs and labels of a gutter are text. */
function isMargin({ text, tone }: Span): boolean {
  return tone === 'gutter' && /^[\d ]*$/.test(text);
}
