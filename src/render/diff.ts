import { type Diff, type DiffFile, totalsOf } from '../segments/diff.js';
import {
  type Block,
  blocksOf,
  lastLineOf,
  lineNumbers,
  linesBetween,
  partnerOf,
  type RowPair,
} from '../segments/diff-blocks.js';
import type { Hunk, RowKind } from '../segments/hunks.js';
import { type Mark, wordMarks } from '../segments/word-marks.js';
import { lastIndexUpTo } from '../util/collections.js';
import { codePointEnd } from '../util/text.js';
import { visibleRuns } from '../util/visible.js';
import { type Ground, type Line, line, pluralize, quote, type Span, say, type Tone } from './line.js';
import type { Highlighter } from './syntax.js';
import type { Token } from './syntax-lexers.js';

interface DiffLook {
  /** Old and new are shown side by side. */
  readonly isSplit: boolean;
  readonly isUnfolded: boolean;
  readonly highlighter: Highlighter | null;
}

interface FileLook extends DiffLook {
  readonly path: string;
  /** Width of the line numbers, in digits. */
  readonly digits: number;
}

/** A part of a diff. Its height is known before it is drawn; line numbers are relative to its first line. */
export interface Part {
  readonly height: number;
  readonly begins: 'file' | 'hunk' | null;
  /** The headings above this part. */
  readonly under: readonly (() => Line)[];
  line(at: number): Line;
  /** The text on a line, without line numbers and headings. */
  textsAt(at: number): readonly string[];
  /** The row of the hunk on a line, counted from its first row; the same in every layout. */
  rowAt(at: number): number;
  /** The line that shows a row, or the fold that hides it. */
  lineOf(row: number): number;
}

export function* partsOf(diff: Diff, look: DiffLook): Generator<Part> {
  const { files } = diff;
  const numbers = files.flatMap(({ hunks }) => hunks.map(lastLineOf));
  const digits = String(numbers.reduce((max, number) => Math.max(max, number), 0)).length;
  if (files.length > 1) yield heading([], () => line`${files.length} files${sumWords(totalsOf(diff))}`);
  for (const file of files) yield* partsOfFile(file, { ...look, path: file.newPath, digits });
}

function* partsOfFile(file: DiffFile, look: FileLook): Generator<Part> {
  const { hunks, isCrlf, hidden, oldPath, newPath } = file;
  const title = () => fileHeader(file);
  yield { ...heading([], title), begins: 'file', textsAt: () => [...new Set([oldPath, newPath])] };
  const hiddenWords = `${pluralize(hidden.count, 'hidden character')}, shown as ${hidden.replacements.join(' or ')}`;
  if (hidden.count > 0) yield heading([title], () => [say(hiddenWords, 'warn')]);
  if (isCrlf) yield heading([title], () => [say('lines end with CR LF', 'dim')]);
  for (const [index, hunk] of hunks.entries()) {
    const gap = linesBetween(hunks[index - 1], hunk);
    if (gap > 0) yield heading([title], () => gapLine(gap));
    const header = () => hunkHeader(hunk, index + 1, hunks.length);
    yield { ...heading([title], header), begins: 'hunk', textsAt: () => [hunk.section] };
    yield new HunkPart(hunk, look, [title, header]);
  }
}

function heading(under: Part['under'], draw: () => Line): Part {
  return { height: 1, begins: null, under, line: draw, textsAt: () => [], rowAt: () => 0, lineOf: () => 0 };
}

function fileHeader(file: DiffFile): Line {
  const { oldPath, newPath, kind, oldMode, newMode } = file;
  const path = oldPath === newPath ? newPath : `${oldPath} → ${newPath}`;
  if (kind === 'unchanged')
    return line`${quote(path, 'title')}${say(path === '' ? 'no changes' : ' (no changes)', 'dim')}`;
  const notes = [
    ...(kind === 'changed' || kind === 'mode' ? [] : [kind]),
    ...(oldMode && newMode ? [`mode ${oldMode} → ${newMode}`] : []),
  ].join(', ');
  return line`${quote(path, 'title')}${notes !== '' && say(` (${notes})`, 'dim')}${sumWords(file)}`;
}

function sumWords({ added, removed }: Pick<DiffFile, 'added' | 'removed'>): Line {
  return [say(` +${added}`, 'added'), say(` −${removed}`, 'removed')];
}

/** @param place of the hunk among those of its file, from 1 on */
function hunkHeader(
  { oldStart, oldCount, newStart, newCount, section }: Hunk,
  place: number,
  hunks: number,
): Line {
  return [
    ...(hunks > 1 ? [say(`hunk ${place}/${hunks} `, 'dim')] : []),
    say(`@@ -${oldStart},${oldCount} +${newStart},${newCount} @@`, 'hunk'),
    ...(section === '' ? [] : [say(' '), ...quote(section, 'dim')]),
  ];
}

/** Stands for lines that are the same in both files. */
function gapLine(count: number): Line {
  return [say(`⋯ ${pluralize(count, 'unchanged line')}`, 'dim')];
}

/** Number of unchanged lines shown around a change. */
const CONTEXT_LINES = 3;

/** Unchanged rows that are folded into one line. */
interface Fold {
  readonly kind: 'fold';
  readonly from: number;
  readonly count: number;
}

type Piece = Block | Fold;

function* blocksAndFolds(hunk: Hunk, isUnfolded: boolean): Generator<Piece> {
  for (const block of blocksOf(hunk)) {
    const count = block.to - block.from - 2 * CONTEXT_LINES;
    // Folding a single line would save no space.
    if (block.kind === 'changed' || isUnfolded || count <= 1) {
      yield block;
      continue;
    }
    const { from, to, oldNo, newNo } = block;
    const skipped = CONTEXT_LINES + count;
    yield { ...block, to: from + CONTEXT_LINES };
    yield { kind: 'fold', from: from + CONTEXT_LINES, count };
    yield { ...block, from: to - CONTEXT_LINES, oldNo: oldNo + skipped, newNo: newNo + skipped };
  }
}

class HunkPart implements Part {
  readonly begins = null;
  readonly height: number;
  readonly #pieces: readonly Piece[];
  readonly #starts: readonly number[];

  constructor(
    private readonly hunk: Hunk,
    private readonly look: FileLook,
    readonly under: Part['under'],
  ) {
    this.#pieces = [...blocksAndFolds(hunk, look.isUnfolded)];
    let height = 0;
    this.#starts = this.#pieces.map(piece => {
      height += this.#heightOf(piece);
      return height - this.#heightOf(piece);
    });
    this.height = height;
  }

  line(index: number): Line {
    const { piece, at } = this.#pieceAt(index);
    if (!piece) return [];
    if (piece.kind === 'fold') return gapLine(piece.count);
    const rows = this.#rowsOn(piece, at);
    return this.look.isSplit ? this.#splitLine(piece, rows) : this.#unifiedLine(piece, rows);
  }

  textsAt(index: number): readonly string[] {
    const { piece, at } = this.#pieceAt(index);
    if (!piece || piece.kind === 'fold') return [];
    const { old, new: now } = this.#rowsOn(piece, at);
    const rows = new Set([old, now].filter(row => row !== undefined));
    return Array.from(rows, row => this.hunk.rows.textAt(row).slice(0, MAX_ROW));
  }

  rowAt(index: number): number {
    const { piece, at } = this.#pieceAt(index);
    if (!piece) return 0;
    const { old, new: now } = piece.kind === 'fold' ? { old: piece.from } : this.#rowsOn(piece, at);
    return old ?? now ?? 0;
  }

  lineOf(row: number): number {
    const index = this.#pieces.findLastIndex(({ from }) => from <= row);
    const piece = this.#pieces[index];
    const start = this.#starts[index] ?? 0;
    if (!piece || piece.kind === 'fold') return start;
    const isBeside = piece.kind === 'changed' && this.look.isSplit && row >= piece.middle;
    return start + row - (isBeside ? piece.middle : piece.from);
  }

  #heightOf(piece: Piece): number {
    if (piece.kind === 'fold') return 1;
    const { from, to } = piece;
    if (piece.kind === 'unchanged' || !this.look.isSplit) return to - from;
    return Math.max(piece.middle - from, to - piece.middle);
  }

  #pieceAt(index: number): { readonly piece: Piece | undefined; readonly at: number } {
    const which = lastIndexUpTo(this.#starts, index);
    return { piece: this.#pieces[which], at: index - (this.#starts[which] ?? 0) };
  }

  #rowsOn(block: Block, at: number): RowPair {
    const row = block.from + at;
    if (block.kind === 'unchanged') return { old: row, new: row };
    const { middle, to } = block;
    if (!this.look.isSplit) return row < middle ? { old: row } : { new: row };
    return { ...(row < middle && { old: row }), ...(middle + at < to && { new: middle + at }) };
  }

  /** Draws both line numbers, the sign and the row. */
  #unifiedLine(block: Block, rows: RowPair): Line {
    const numbers = lineNumbers(block, rows);
    const gutter = `${this.#number(numbers.old)} ${this.#number(numbers.new)} `;
    return [say(gutter, 'gutter'), ...this.#row(block, rows.old ?? rows.new ?? 0)];
  }

  /** Draws the old half, a divider and the new half; either half may be empty. */
  #splitLine(block: Block, rows: RowPair): Line {
    const numbers = lineNumbers(block, rows);
    const half = (row: number | undefined, number: number | null): Line =>
      row === undefined ? [] : [say(`${this.#number(number)} `, 'gutter'), ...this.#row(block, row)];
    return [...half(rows.old, numbers.old), say(' │ ', 'divider'), ...half(rows.new, numbers.new)];
  }

  #number(number: number | null): string {
    return `${number ?? ''}`.padStart(this.look.digits);
  }

  #row(block: Block, row: number): Line {
    const { rows } = this.hunk;
    const kind = rows.kindAt(row) ?? 'context';
    const text = rows.textAt(row);
    const beyond = text.length - MAX_ROW;
    const marks = beyond > 0 ? [] : this.#marksOf(block, row);
    const tokens = this.look.highlighter?.tokensOf(this.look.path, rows, row) ?? [];
    return [
      SIGNS[kind],
      say(' ', 'gutter'),
      ...codeSpans(text.slice(0, MAX_ROW), kind, marks, tokens),
      ...(beyond > 0 ? [say(` … ${beyond} more characters`, 'dim')] : []),
      ...(rows.endsWithoutNewline(row) ? [say(' \\ No newline at end of file', 'dim')] : []),
    ];
  }

  #marksOf(block: Block, row: number): readonly Mark[] {
    const partner = block.kind === 'changed' ? partnerOf(block, row) : undefined;
    if (partner === undefined) return [];
    const [text, other] = [this.hunk.rows.textAt(row), this.hunk.rows.textAt(partner)];
    if (other.length > MAX_ROW) return [];
    return row < partner ? wordMarks(text, other).removed : wordMarks(other, text).added;
  }
}

/** Maximum length of a row, in characters; the words of longer rows are not compared. */
const MAX_ROW = 4_000;

const SIGNS: Readonly<Record<RowKind, Span>> = {
  context: say(' '),
  added: say('+', 'added'),
  removed: say('-', 'removed'),
};

/** Splits a text at the boundaries of word marks, syntax tokens and hidden characters. */
function codeSpans(text: string, kind: RowKind, marks: readonly Mark[], tokens: readonly Token[]): Line {
  const spans: Span[] = [];
  const [markAt, tokenAt] = [following(marks), following(tokens)];
  let column = 0;
  for (let at = 0; at < text.length; ) {
    const [mark, token] = [markAt(at), tokenAt(at)];
    // A grammar may split a surrogate pair; neither half can be shown alone.
    const end = codePointEnd(text, Math.min(mark.end, token.end, text.length));
    const ground = groundOf(kind, mark.piece?.changed ?? false);
    for (const run of visibleRuns(text.slice(at, end), column)) {
      const tone: Tone = run.isReplaced ? 'hidden' : (token.piece?.role ?? 'plain');
      spans.push({ text: run.text, tone, ...ground });
      column += run.text.length;
    }
    at = end;
  }
  return spans.length > 0 ? spans : [{ text: '', tone: 'plain', ...groundOf(kind, false) }];
}

function groundOf(kind: RowKind, isChanged: boolean): { readonly ground?: Ground } {
  return kind === 'context' ? {} : { ground: isChanged ? `${kind}-word` : kind };
}

/** Finds the piece at an offset, and its end, in consecutive pieces. Offsets must ascend. */
function following<T extends { readonly text: string }>(pieces: readonly T[]) {
  let index = -1;
  let end = 0;
  return (at: number): { readonly piece: T | undefined; readonly end: number } => {
    while (end <= at) end += pieces[++index]?.text.length ?? Number.POSITIVE_INFINITY;
    return { piece: pieces[index], end };
  };
}
