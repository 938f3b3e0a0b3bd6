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
  readonly count: number;
}

type Piece = Block | Fold;

/** The lines of a hunk below its header, each known by its place. */
export interface HunkLayout {
  line(at: number): Line;
  /** What the hunk itself says there: old and new where they are beside each other, nothing in a fold. */
  textsAt(at: number): readonly string[];
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
  const locate = growing(piecesOf(hunk, look.isUnfolded), piece => heightOf(piece, look.isSplit));
  return {
    line(index) {
      const { piece, at } = locate(index);
      return piece ? lineOf(piece, at, rows, look) : [];
    },
    textsAt(index) {
      const { piece, at } = locate(index);
      return piece && piece.kind !== 'fold' ? rowTexts(piece, at, rows, look) : [];
    },
  };
}

/** Finds the piece that a line is in; those before it are remembered. */
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
  return (index: number): { readonly piece: Piece | undefined; readonly at: number } => {
    while (height <= index && grow());
    const which = lastUpTo(starts, index);
    return { piece: pieces[which], at: index - (starts[which] ?? 0) };
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
