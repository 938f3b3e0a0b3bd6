import type { Hunk, RowKind, Rows } from './hunks.js';

/** A range of row indexes; `to` is exclusive. */
interface Stretch {
  readonly from: number;
  readonly to: number;
  /** The old line number of the first row, or of the next old line. */
  readonly oldNo: number;
  readonly newNo: number;
}

/** Removed rows up to `middle`, then the rows that replace them. */
type Changed = Stretch & { readonly kind: 'changed'; readonly middle: number };

export type Block = (Stretch & { readonly kind: 'unchanged' }) | Changed;

/** Splits a hunk into unchanged and changed blocks. */
export function* blocksOf({ rows, ...hunk }: Hunk): Generator<Block> {
  let oldNo = firstLine(hunk.oldStart, hunk.oldCount);
  let newNo = firstLine(hunk.newStart, hunk.newCount);
  for (let from = 0; from < rows.length; ) {
    const to = runEnd(rows, from, 'context');
    if (to > from) {
      yield { kind: 'unchanged', from, to, oldNo, newNo };
      oldNo += to - from;
      newNo += to - from;
      from = to;
      continue;
    }
    const middle = runEnd(rows, from, 'removed');
    const end = runEnd(rows, middle, 'added');
    yield { kind: 'changed', from, middle, to: end, oldNo, newNo };
    oldNo += middle - from;
    newNo += end - middle;
    from = end;
  }
}

/** The row on the other side of a changed block: the i-th removed row pairs with the i-th added row. */
export function partnerOf({ from, middle, to }: Changed, row: number): number | undefined {
  const isRemoved = row < middle;
  const partner = isRemoved ? middle + row - from : from + row - middle;
  return partner < (isRemoved ? to : middle) ? partner : undefined;
}

/** A hunk with no lines in a file has the number of the line before it. */
function firstLine(start: number, count: number): number {
  return count === 0 ? start + 1 : start;
}

function runEnd(rows: Rows, from: number, kind: RowKind): number {
  let at = from;
  while (rows.kindAt(at) === kind) at++;
  return at;
}

/** The rows that are shown beside each other: both sides of an unchanged row, or of changed rows. */
export interface RowPair {
  readonly old?: number;
  readonly new?: number;
}

/** The line numbers of rows of a block; null where a side has no such row. */
export function lineNumbers(
  block: Block,
  { old, new: now }: RowPair,
): { readonly old: number | null; readonly new: number | null } {
  const newFrom = block.kind === 'changed' ? block.middle : block.from;
  return {
    old: old === undefined ? null : block.oldNo + old - block.from,
    new: now === undefined ? null : block.newNo + now - newFrom,
  };
}

/** The highest line number of a hunk. */
export function lastLineOf({ oldStart, oldCount, newStart, newCount }: Hunk): number {
  return Math.max(oldStart, oldStart + oldCount - 1, newStart, newStart + newCount - 1);
}

/** Counts the unchanged lines between two hunks, from their headers. */
export function linesBetween(before: Hunk | undefined, { newStart, newCount }: Hunk): number {
  if (!before) return 0;
  return firstLine(newStart, newCount) - firstLine(before.newStart, before.newCount) - before.newCount;
}
