import {
  type Block,
  blocksOf,
  type Diff,
  type DiffFile,
  firstLine,
  type Hidden,
  type Hunk,
  lastLine,
  type Mark,
  partnerOf,
  type RowKind,
  type Rows,
  type Unchanged,
  wordMarks,
} from '../display/diff-model.js';
import type { Highlighter, Role, Token } from '../display/syntax.js';
import { lastUpTo } from '../util/strings-in.js';
import { visibleRuns } from '../util/visible.js';
import { type Ground, type Line, quote, type Span, say, type Tone } from './line.js';

interface Sums {
  readonly added: number;
  readonly removed: number;
}

/** Above a diff of several files. */
function summary(files: number, sums: Sums): Line {
  return [say(`${files} files`), ...changes(sums)];
}

function fileHeader({ oldPath, newPath, ...file }: DiffFile): Line {
  const path = oldPath === newPath ? newPath : `${oldPath} → ${newPath}`;
  const notes = notesOn(file).join(', ');
  return [...quote(path, 'title'), ...(notes === '' ? [] : [say(` (${notes})`, 'dim')]), ...changes(file)];
}

/** Nobody is to be deceived by what cannot be seen. */
function hiddenLine({ count, pictures }: Hidden): Line {
  const are = count === 1 ? 'hidden character' : 'hidden characters';
  return [say(`${count} ${are}, shown as ${pictures.join(' or ')}`, 'warn')];
}

/** @param place of the hunk among those of its file, from 1 on */
function hunkHeader(hunk: Hunk, place: number, hunks: number): Line {
  const { oldStart, oldCount, newStart, newCount, section } = hunk;
  return [
    ...(hunks > 1 ? [say(`hunk ${place}/${hunks} `, 'dim')] : []),
    say(`@@ -${oldStart},${oldCount} +${newStart},${newCount} @@`, 'hunk'),
    ...(section === '' ? [] : [say(' '), ...quote(section, 'dim')]),
  ];
}

/** In the place of lines that are the same in both files. */
function gapLine(count: number): Line {
  return [say(`⋯ ${count} unchanged line${count === 1 ? '' : 's'}`, 'dim')];
}

function changes({ added, removed }: Sums): Line {
  return [say(` +${added}`, 'added'), say(` −${removed}`, 'removed')];
}

function notesOn({ kind, oldMode, newMode }: Pick<DiffFile, 'kind' | 'oldMode' | 'newMode'>): string[] {
  const modes = oldMode && newMode ? [`mode ${oldMode} → ${newMode}`] : [];
  return kind === 'changed' || kind === 'mode' ? modes : [kind, ...modes];
}

/** How a diff is laid out. */
export interface DiffLook {
  /** Old and new beside each other, instead of below each other. */
  readonly isSplit: boolean;
  readonly isUnfolded: boolean;
  readonly highlighter: Highlighter | null;
}

/** The same for one of its files. */
interface FileLook extends DiffLook {
  readonly path: string;
  /** The width of a line number. */
  readonly digits: number;
}

/** A row's text, and what is known of its pieces; where nothing is known, there are none. */
interface Code {
  readonly text: string;
  readonly kind: RowKind;
  readonly marks: readonly Mark[];
  readonly tokens: readonly Token[];
}

interface DiffCodePiece {
  readonly text: string;
  readonly isChanged: boolean;
  readonly role: Role | null;
}

/** Marks, tokens and hidden characters cut the same text independently; a hidden one keeps its own tone. */
export function codeSpans(code: Code): Line {
  const spans: Span[] = [];
  let column = 0;
  for (const { text: piece, isChanged, role } of diffCodePiecesOf(code))
    for (const { text, hidden } of visibleRuns(piece, column)) {
      const tone = hidden ? 'hidden' : (role ?? 'plain');
      spans.push({ text, tone, ...groundOf(code.kind, isChanged) });
      column += text.length;
    }
  return spans.length > 0 ? spans : [{ text: '', tone: 'plain', ...groundOf(code.kind, false) }];
}

function groundOf(kind: RowKind, isChanged: boolean): { readonly ground?: Ground } {
  if (kind === 'context') return {};
  return { ground: isChanged ? `${kind}-word` : kind };
}

function* diffCodePiecesOf({ text, marks, tokens }: Code): Generator<DiffCodePiece> {
  const markAt = following(marks);
  const tokenAt = following(tokens);
  for (let at = 0; at < text.length; ) {
    const [mark, token] = [markAt(at), tokenAt(at)];
    const end = wholeCharacters(text, Math.min(mark.end, token.end, text.length));
    yield {
      text: text.slice(at, end),
      isChanged: mark.piece?.changed ?? false,
      role: token.piece?.role ?? null,
    };
    at = end;
  }
}

/** Of pieces one after the other, the one at an offset, and where it ends; asked with growing offsets. */
function following<T extends { readonly text: string }>(pieces: readonly T[]) {
  let index = -1;
  let end = 0;
  return (at: number): { readonly piece: T | undefined; readonly end: number } => {
    while (end <= at) end += pieces[++index]?.text.length ?? Number.POSITIVE_INFINITY;
    return { piece: pieces[index], end };
  };
}

/** A grammar may cut between the two halves of a character; no half can be shown. */
function wholeCharacters(text: string, end: number): number {
  return (text.codePointAt(end - 1) ?? 0) > 0xffff ? end + 1 : end;
}

/** A longer row is cut for the eye, and its words are not compared. */
const MAX_ROW = 4_000;

const SIGNS: Readonly<Record<RowKind, { sign: string; tone: Tone }>> = {
  context: { sign: ' ', tone: 'plain' },
  added: { sign: '+', tone: 'added' },
  removed: { sign: '-', tone: 'removed' },
};

/** The `at`-th line of a block: both numbers, the sign, the row. */
function unifiedLine(block: Block, at: number, rows: Rows, look: FileLook): Line {
  const row = block.from + at;
  const { oldNo, newNo } = block;
  const number = (no: number | null) => `${no ?? ''}`.padStart(look.digits);
  const draw = (old: number | null, now: number | null) => [
    say(`${number(old)} ${number(now)} `, 'gutter'),
    ...rowSpans(block, row, rows, look),
  ];
  if (block.kind === 'unchanged') return draw(oldNo + at, newNo + at);
  return row < block.middle ? draw(oldNo + at, null) : draw(null, newNo + row - block.middle);
}

/** The `at`-th line of a block with its old half, a divider, and its new half; either may be empty. */
function splitLine(block: Block, at: number, rows: Rows, look: FileLook): Line {
  const half = (no: number, row: number) => [
    say(`${`${no}`.padStart(look.digits)} `, 'gutter'),
    ...rowSpans(block, row, rows, look),
  ];
  const [oldNo, newNo] = [block.oldNo + at, block.newNo + at];
  const divider = say(' │ ', 'divider');
  if (block.kind === 'unchanged')
    return [...half(oldNo, block.from + at), divider, ...half(newNo, block.from + at)];
  const [removed, added] = [block.from + at, block.middle + at];
  return [
    ...(removed < block.middle ? half(oldNo, removed) : []),
    divider,
    ...(added < block.to ? half(newNo, added) : []),
  ];
}

/** The rows that stand on the `at`-th line of a block, as far as they are shown. */
function rowTexts(block: Block, at: number, rows: Rows, { isSplit }: FileLook): readonly string[] {
  const shown = (row: number) => rows.textAt(row).slice(0, MAX_ROW);
  const { from, to } = block;
  if (block.kind === 'unchanged' || !isSplit) return [shown(from + at)];
  const [removed, added] = [from + at, block.middle + at];
  return [...(removed < block.middle ? [shown(removed)] : []), ...(added < to ? [shown(added)] : [])];
}

function rowSpans(block: Block, row: number, rows: Rows, { path, highlighter }: FileLook): Line {
  const kind = rows.kindAt(row) ?? 'context';
  const text = rows.textAt(row);
  const { sign, tone } = SIGNS[kind];
  const beyond = text.length - MAX_ROW;
  const code = beyond > 0 ? text.slice(0, MAX_ROW) : text;
  return [
    say(sign, tone),
    say(' ', 'gutter'),
    ...codeSpans({
      text: code,
      kind,
      marks: beyond > 0 ? [] : marksOf(block, row, rows),
      tokens: highlighter?.tokensOf(path, rows, row) ?? [],
    }),
    ...(beyond > 0 ? [say(` … ${beyond} more characters`, 'dim')] : []),
    ...(rows.endsWithoutNewline(row) ? [say(' \\ No newline at end of file', 'dim')] : []),
  ];
}

function marksOf(block: Block, row: number, rows: Rows): readonly Mark[] {
  const partner = block.kind === 'changed' ? partnerOf(block, row) : undefined;
  if (partner === undefined) return [];
  const [text, other] = [rows.textAt(row), rows.textAt(partner)];
  if (other.length > MAX_ROW) return [];
  return row < partner ? wordMarks(text, other).removed : wordMarks(other, text).added;
}

/** Unchanged lines that stay beside a change where those further away are folded. */
const BESIDE = 3;

/** A stretch of unchanged lines that one line stands for. */
interface Fold {
  readonly kind: 'fold';
  /** The first row of it. */
  readonly from: number;
  readonly count: number;
}

type Piece = Block | Fold;

/** The lines of a hunk below its header, each known by its place. */
interface HunkLayout {
  line(at: number): Line;
  /** What the hunk itself says there: old and new where they are beside each other, nothing in a fold. */
  textsAt(at: number): readonly string[];
  /** The row that stands on a line: of two beside each other the old one, of a fold the first. */
  rowAt(at: number): number;
  /** The line of a row. */
  lineOf(row: number): number;
}

/** How many lines {@link layHunk} has in all. */
function heightOfHunk(hunk: Hunk, { isSplit, isUnfolded }: DiffLook): number {
  const { rows } = hunk;
  if (!isSplit && (isUnfolded || rows.length <= 2 * BESIDE + 1)) return rows.length;
  let height = 0;
  for (const piece of piecesOf(hunk, isUnfolded)) height += heightOf(piece, isSplit);
  return height;
}

/** Goes through the hunk once, and no further than is asked for. */
function layHunk(hunk: Hunk, look: FileLook): HunkLayout {
  const { rows } = hunk;
  const { isSplit, isUnfolded } = look;
  const { locate, locateRow } = growing(piecesOf(hunk, isUnfolded), piece => heightOf(piece, isSplit));
  return {
    line(index) {
      const { piece, at } = locate(index);
      return piece ? draw(piece, at, rows, look) : [];
    },
    textsAt(index) {
      const { piece, at } = locate(index);
      return piece && piece.kind !== 'fold' ? rowTexts(piece, at, rows, look) : [];
    },
    rowAt(index) {
      const { piece, at } = locate(index);
      return piece ? rowIn(piece, at, isSplit) : 0;
    },
    lineOf(row) {
      const { piece, start } = locateRow(row);
      return piece ? start + lineIn(piece, row, isSplit) : 0;
    },
  };
}

/** Finds the piece that a line is in, or a row; those before it are remembered. */
function growing(coming: Iterator<Piece>, heightOf: (piece: Piece) => number) {
  const pieces: Piece[] = [];
  const starts: number[] = [];
  let height = 0;
  const grow = () => {
    const { done, value } = coming.next();
    if (done) return false;
    pieces.push(value);
    starts.push(height);
    height += heightOf(value);
    return true;
  };
  const found = (which: number) => ({ piece: pieces[which], start: starts[which] ?? 0 });
  return {
    locate(index: number) {
      while (height <= index && grow());
      const { piece, start } = found(lastUpTo(starts, index));
      return { piece, at: index - start };
    },
    locateRow(row: number) {
      while ((pieces.at(-1)?.from ?? 0) <= row && grow());
      return found(pieces.findLastIndex(({ from }) => from <= row));
    },
  };
}

function* piecesOf(hunk: Hunk, isUnfolded: boolean): Generator<Piece> {
  for (const block of blocksOf(hunk)) {
    if (block.kind === 'unchanged' && !isUnfolded) yield* folded(block);
    else yield block;
  }
}

/** A fold that hides a single line would only hide it. */
function* folded(block: Unchanged): Generator<Piece> {
  const { from, to } = block;
  const count = to - from - 2 * BESIDE;
  if (count <= 1) return yield block;
  yield { ...block, to: from + BESIDE };
  yield { kind: 'fold', from: from + BESIDE, count };
  const skipped = BESIDE + count;
  yield { ...block, from: to - BESIDE, oldNo: block.oldNo + skipped, newNo: block.newNo + skipped };
}

function heightOf(piece: Piece, isSplit: boolean): number {
  if (piece.kind === 'fold') return 1;
  const { from, to } = piece;
  if (piece.kind === 'unchanged' || !isSplit) return to - from;
  return Math.max(piece.middle - from, to - piece.middle);
}

function rowIn(piece: Piece, at: number, isSplit: boolean): number {
  if (piece.kind === 'fold') return piece.from;
  const row = piece.from + at;
  return piece.kind === 'unchanged' || !isSplit || row < piece.middle ? row : piece.middle + at;
}

function lineIn(piece: Piece, row: number, isSplit: boolean): number {
  if (piece.kind === 'fold') return 0;
  return piece.kind === 'unchanged' || !isSplit || row < piece.middle ? row - piece.from : row - piece.middle;
}

function draw(piece: Piece, at: number, rows: Rows, look: FileLook): Line {
  if (piece.kind === 'fold') return gapLine(piece.count);
  return look.isSplit ? splitLine(piece, at, rows, look) : unifiedLine(piece, at, rows, look);
}

/** A part of the layout that knows its height before anything is drawn. */
export interface Part {
  readonly height: number;
  /** What begins with it. */
  readonly begins: 'file' | 'hunk' | null;
  /** The headers that it stands under. */
  readonly under: readonly (() => Line)[];
  /** Its lines are counted from its own first. */
  line(at: number): Line;
  /** What the diff itself says on a line: no numbers, no words of ours. */
  textsAt(at: number): readonly string[];
  /** Which row of the hunk stands on a line, counted from its first one; that is the same under every look. */
  rowAt(at: number): number;
  /** The line of a row; where it is folded away, the fold. */
  lineOf(row: number): number;
}

/** A diff from its first line to its last. */
export function* partsOf({ files, ...sums }: Diff, look: DiffLook): Generator<Part> {
  const digits = String(lastNumber(files)).length;
  if (files.length > 1) yield single([], () => summary(files.length, sums));
  for (const file of files) yield* partsOfFile(file, digits, look);
}

function* partsOfFile(file: DiffFile, digits: number, look: DiffLook): Generator<Part> {
  const { hunks, hidden, oldPath, newPath: path } = file;
  const own = { ...look, path, digits };
  const title = () => fileHeader(file);
  yield { ...single([], title), begins: 'file', textsAt: () => [...new Set([oldPath, path])] };
  if (hidden.count > 0) yield single([title], () => hiddenLine(hidden));
  for (const [index, hunk] of hunks.entries()) {
    const gap = linesBetween(hunks[index - 1], hunk);
    if (gap > 0) yield single([title], () => gapLine(gap));
    const heading = () => hunkHeader(hunk, index + 1, hunks.length);
    yield { ...single([title], heading), begins: 'hunk', textsAt: () => [hunk.section] };
    yield rowsPart(hunk, own, [title, heading]);
  }
}

/** A line of our own words. */
function single(under: Part['under'], draw: () => Line): Part {
  return { height: 1, begins: null, under, line: draw, textsAt: () => [], rowAt: () => 0, lineOf: () => 0 };
}

/** Where each row stands is found out only for a hunk that is looked at. */
function rowsPart(hunk: Hunk, look: FileLook, under: Part['under']): Part {
  let layout: HunkLayout | undefined;
  const laid = () => {
    layout ??= layHunk(hunk, look);
    return layout;
  };
  return {
    height: heightOfHunk(hunk, look),
    begins: null,
    under,
    line: at => laid().line(at),
    textsAt: at => laid().textsAt(at),
    rowAt: at => laid().rowAt(at),
    lineOf: row => laid().lineOf(row),
  };
}

/** Lines that both files have between two hunks, as far as the headers tell. */
function linesBetween(before: Hunk | undefined, { newStart, newCount }: Hunk): number {
  if (!before) return 0;
  return firstLine(newStart, newCount) - firstLine(before.newStart, before.newCount) - before.newCount;
}

function lastNumber(files: readonly DiffFile[]): number {
  let last = 0;
  for (const { hunks } of files)
    for (const { oldStart, oldCount, newStart, newCount } of hunks)
      last = Math.max(last, lastLine(oldStart, oldCount), lastLine(newStart, newCount));
  return last;
}
