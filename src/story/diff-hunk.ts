import { type Block, blocksOf, type Unchanged } from '../display/diff/blocks.js';
import type { Hunk, Rows } from '../display/diff/model.js';
import { gapLine } from './diff-headers.js';
import type { DiffLook, FileLook } from './diff-look.js';
import { splitLine, unifiedLine } from './diff-rows.js';
import type { Line } from './line.js';

/** Unchanged lines that stay beside a change where those further away are folded. */
const BESIDE = 3;

/** A stretch of unchanged lines that one line stands for. */
interface Fold {
  readonly kind: 'fold';
  readonly count: number;
}

type Piece = Block | Fold;

/** How many lines {@link hunkLines} has in all. */
export function heightOfHunk(hunk: Hunk, { isSplit, isUnfolded }: DiffLook): number {
  const { rows } = hunk;
  if (!isSplit && (isUnfolded || rows.length <= 2 * BESIDE + 1)) return rows.length;
  let height = 0;
  for (const piece of piecesOf(hunk, isUnfolded)) height += heightOf(piece, isSplit);
  return height;
}

/** The lines `from` … `to` of a hunk, below its header. */
export function* hunkLines(hunk: Hunk, look: FileLook, from: number, to: number): Generator<Line> {
  let start = 0;
  for (const piece of piecesOf(hunk, look.isUnfolded)) {
    if (start >= to) return;
    const height = heightOf(piece, look.isSplit);
    for (let at = Math.max(from - start, 0); at < Math.min(to - start, height); at++)
      yield lineOf(piece, at, hunk.rows, look);
    start += height;
  }
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
  yield { kind: 'fold', count };
  const skipped = BESIDE + count;
  yield { ...block, from: to - BESIDE, oldNo: block.oldNo + skipped, newNo: block.newNo + skipped };
}

function heightOf(piece: Piece, isSplit: boolean): number {
  if (piece.kind === 'fold') return 1;
  const { from, to } = piece;
  if (piece.kind === 'unchanged' || !isSplit) return to - from;
  return Math.max(piece.middle - from, to - piece.middle);
}

function lineOf(piece: Piece, at: number, rows: Rows, look: FileLook): Line {
  if (piece.kind === 'fold') return gapLine(piece.count);
  return look.isSplit ? splitLine(piece, at, rows, look) : unifiedLine(piece, at, rows, look);
}
