import { diffWordsWithSpace } from 'diff';

/** A parsed unified diff: what it says about each file, free of how any tool spelled it. */
export interface Diff {
  readonly files: readonly DiffFile[];
  readonly added: number;
  readonly removed: number;
}

export type FileKind = 'changed' | 'created' | 'deleted' | 'renamed' | 'copied' | 'mode' | 'binary';

export interface DiffFile {
  /** Without git's `a/` and `b/`; for a created or a deleted file both paths are the one it has. */
  readonly oldPath: string;
  readonly newPath: string;
  readonly kind: FileKind;
  readonly oldMode?: string;
  readonly newMode?: string;
  readonly hunks: readonly Hunk[];
  readonly added: number;
  readonly removed: number;
  /** Characters that are invisible, or would act on a terminal, and the first few pictures that they are shown as. */
  readonly hidden: { readonly count: number; readonly pictures: readonly string[] };
}

/** Starts are as written in the header; counts are what the hunk really has. */
export interface Hunk {
  readonly oldStart: number;
  readonly oldCount: number;
  readonly newStart: number;
  readonly newCount: number;
  /** What stands behind the second `@@`: usually the function that encloses the hunk. */
  readonly section: string;
  readonly rows: Rows;
}

export type RowKind = 'context' | 'added' | 'removed';

/** The rows of a hunk, each looked up only when it is asked for: a patch may have half a million. */
export interface Rows {
  readonly length: number;
  /** Undefined where there is no such row. */
  kindAt(index: number): RowKind | undefined;
  /** Without its sign; a `\r` before the line feed is kept. */
  textAt(index: number): string;
  /** The file ends with this row, without a line feed. */
  endsWithoutNewline(index: number): boolean;
}

/** Indexes of rows; `to` is the first that is not meant. */
interface Stretch {
  readonly from: number;
  readonly to: number;
  /** The line of the old and of the new file that its first row stands on, or before. */
  readonly oldNo: number;
  readonly newNo: number;
}

/** Rows that were removed, up to `middle`, and those that were added in their place. */
type Changed = Stretch & { readonly kind: 'changed'; readonly middle: number };

export type Block = (Stretch & { readonly kind: 'unchanged' }) | Changed;

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

export interface Mark {
  readonly text: string;
  readonly changed: boolean;
}

interface WordMarks {
  readonly removed: readonly Mark[];
  readonly added: readonly Mark[];
}

/** More edits than this and the search costs too much (13 ms at 200, 700 ms unbounded, for 1,000 words). */
const MAX_EDITS = 200;
/** Below this share of common text the two lines are strangers, and marks would only be noise. */
const KINSHIP = 0.4;

/** Which words changed between a removed line and the added line in its place. Without kinship nothing is marked. */
export function wordMarks(removed: string, added: string): WordMarks {
  const changes = diffWordsWithSpace(removed, added, { maxEditLength: MAX_EDITS }) ?? [];
  const common = changes.filter(change => !change.added && !change.removed);
  if (2 * weigh(common) < KINSHIP * (removed.trim().length + added.trim().length) || changes.length === 0)
    return { removed: unmarked(removed), added: unmarked(added) };
  return {
    removed: changes
      .filter(change => !change.added)
      .map(({ value, removed: changed }) => ({ text: value, changed })),
    added: changes
      .filter(change => !change.removed)
      .map(({ value, added: changed }) => ({ text: value, changed })),
  };
}

/** Blanks are common to all code, so they prove nothing. */
function weigh(changes: readonly { readonly value: string }[]): number {
  return changes.reduce((sum, { value }) => sum + value.trim().length, 0);
}

function unmarked(text: string): Mark[] {
  return text === '' ? [] : [{ text, changed: false }];
}
