import { type Block, blocksOf, type Unchanged } from '../display/diff/blocks.js';
import type { Hunk, Rows } from '../display/diff/model.js';
import { lastUpTo } from '../text/sorted.js';
import { gapLine } from './diff-headers.js';
import type { DiffLook, FileLook } from './diff-look.js';
import { rowTexts, splitLine, unifiedLine } from './diff-rows.js';
import type { Line } from './line.js';

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
export interface HunkLayout {
  line(at: number): Line;
  /** What the hunk itself says there: old and new where they are beside each other, nothing in a fold. */
  textsAt(at: number): readonly string[];
  /** The row that stands on a line: of two beside each other the old one, of a fold the first. */
  rowAt(at: number): number;
  /** The line of a row. */
  lineOf(row: number): number;
}

/** How many lines {@link layHunk} has in all. */
export function heightOfHunk(hunk: Hunk, { isSplit, isUnfolded }: DiffLook): number {
  const { rows } = hunk;
  if (!isSplit && (isUnfolded || rows.length <= 2 * BESIDE + 1)) return rows.length;
  let height = 0;
  for (const piece of piecesOf(hunk, isUnfolded)) height += heightOf(piece, isSplit);
  return height;
}

/** Goes through the hunk once, and no further than is asked for. */
export function layHunk(hunk: Hunk, look: FileLook): HunkLayout {
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
