import type { Hunk, RowKind, Rows } from './model.js';

/** Indexes of rows; `to` is the first that is not meant. */
interface Stretch {
  readonly from: number;
  readonly to: number;
  /** The line of the old and of the new file that its first row stands on, or before. */
  readonly oldNo: number;
  readonly newNo: number;
}

export interface Unchanged extends Stretch {
  readonly kind: 'unchanged';
}

/** Rows that were removed, up to `middle`, and those that were added in their place. */
export interface Changed extends Stretch {
  readonly kind: 'changed';
  readonly middle: number;
}

export type Block = Unchanged | Changed;

/** A hunk from its first row to its last: what stayed, what was changed, what stayed, … */
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

/** The row in whose place this one of a changed block stands: the i-th removed one and the i-th added one are a pair. */
export function partnerOf({ from, middle, to }: Changed, row: number): number | undefined {
  const isRemoved = row < middle;
  const partner = isRemoved ? middle + row - from : from + row - middle;
  return partner < (isRemoved ? to : middle) ? partner : undefined;
}

/** A hunk without lines of a file has the number of the line before it. */
export function firstLine(start: number, count: number): number {
  return count === 0 ? start + 1 : start;
}

/** The last line that a hunk speaks of. */
export function lastLine(start: number, count: number): number {
  return Math.max(start, start + count - 1);
}

function runEnd(rows: Rows, from: number, kind: RowKind): number {
  let at = from;
  while (rows.kindAt(at) === kind) at++;
  return at;
}
