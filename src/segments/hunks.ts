import type { PatchLines } from './patch-lines.js';

/** Starts are those of the header; counts are those of the body. */
export interface Hunk {
  readonly oldStart: number;
  readonly oldCount: number;
  readonly newStart: number;
  readonly newCount: number;
  /** The text after the second `@@`: usually the enclosing function. */
  readonly section: string;
  readonly rows: Rows;
}

export type RowKind = 'context' | 'added' | 'removed';

/** The rows of a hunk, read lazily: a patch may have half a million. */
export interface Rows {
  readonly length: number;
  /** Undefined for an index out of range. */
  kindAt(index: number): RowKind | undefined;
  /** The row without its sign; a `\r` before the line feed is kept, unless each row of the file has one. */
  textAt(index: number): string;
  /** Whether the file ends with this row, without a line feed. */
  endsWithoutNewline(index: number): boolean;
}

/** The number of old and new lines in a hunk. */
interface Counts {
  readonly old: number;
  readonly new: number;
}

/** A hunk, and where it stands in the patch. */
export interface ReadHunk extends Hunk {
  /** The index of its `@@` line. */
  readonly at: number;
  /** The number of lines below that, including `\\ No newline at end of file`. */
  readonly height: number;
  /** The counts of its header. */
  readonly stated: Counts;
}

const REMARK = '\\';

const KINDS: Readonly<Record<string, RowKind>> = { '+': 'added', '-': 'removed' };

/** The rows of a hunk as offsets into the patch: four bytes per row. */
class HunkRows implements Rows {
  constructor(
    private readonly patch: string,
    private readonly starts: Uint32Array,
  ) {}

  get length(): number {
    return this.starts.length;
  }

  kindAt(index: number): RowKind | undefined {
    const start = this.starts[index];
    return start === undefined ? undefined : (KINDS[this.patch.charAt(start)] ?? 'context');
  }

  textAt(index: number): string {
    const start = this.starts[index];
    if (start === undefined) return '';
    return this.patch.slice(start + 1, Math.max(start + 1, this.#endOf(start)));
  }

  endsWithoutNewline(index: number): boolean {
    const start = this.starts[index];
    return start !== undefined && this.patch.charAt(this.#endOf(start) + 1) === REMARK;
  }

  #endOf(start: number): number {
    const end = this.patch.indexOf('\n', start);
    return end < 0 ? this.patch.length : end;
  }
}

const HUNK_HEADER = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)$/s;

const ANY: Counts = { old: Number.POSITIVE_INFINITY, new: Number.POSITIVE_INFINITY };

/** Parses `@@ -1,3 +1,4 @@ section` and its body; undefined for other lines and for impossible numbers. */
export function readHunk(lines: PatchLines, at: number): ReadHunk | undefined {
  const match = HUNK_HEADER.exec(lines.at(at) ?? '');
  if (!match) return undefined;
  const [, oldStart, oldStated = '1', newStart, newStated = '1', section = ''] = match;
  const numbers = [oldStart, newStart, oldStated, newStated].map(Number);
  if (!numbers.every(Number.isSafeInteger)) return undefined;
  const stated = { old: Number(oldStated), new: Number(newStated) };
  const { height, has } = measure(lines, at + 1, stated);
  const starts = lines.starts(at + 1, at + 1 + height);
  // A `\\ No newline` line belongs to the row before it.
  const isNoRemark = (start: number) => lines.text.charAt(start) !== REMARK;
  const rows = new HunkRows(lines.text, starts.every(isNoRemark) ? starts : starts.filter(isNoRemark));
  const counts = { oldCount: has.old, newCount: has.new };
  const begins = { oldStart: Number(oldStart), newStart: Number(newStart) };
  return { ...begins, ...counts, section: section.trim(), rows, at, height, stated };
}

/** The number of lines of a body, without and with the remarks. */
interface Extent {
  readonly has: Counts;
  readonly height: number;
}

/** Uses the counts of the header if the lines match them, else takes all lines that look like part of the hunk. */
function measure(lines: PatchLines, from: number, stated: Counts): Extent {
  const asStated = walk(lines, from, stated);
  const isKept = asStated.has.old === stated.old && asStated.has.new === stated.new;
  if (isKept && !goesOn(lines, from + asStated.height)) return asStated;
  const { height, has } = walk(lines, from, ANY);
  let blank = 0; // if the header is wrong, trailing empty lines are not part of the hunk
  while (blank < height && lines.signAt(from + height - 1 - blank) === '') blank++;
  return { height: height - blank, has: { old: has.old - blank, new: has.new - blank } };
}

/** Takes lines until it has these counts, or until a line is no row. */
function walk(lines: PatchLines, from: number, limit: Counts): Extent {
  const has = { old: 0, new: 0 };
  // `\\ No newline at end of file`, in any language, belongs to the row before it.
  const isRemark = () => at > from && lines.startsWith(at, '\\ ');
  let at = from;
  for (; has.old < limit.old || has.new < limit.new; at++) {
    if (!isRow(lines, at) && !isStrippedContext(lines, at) && !isRemark()) break;
    const sign = lines.signAt(at);
    if (sign !== '+' && sign !== '\\') has.old++;
    if (sign !== '-' && sign !== '\\') has.new++;
  }
  while (isRemark()) at++;
  return { height: at - from, has };
}

function goesOn(lines: PatchLines, from: number): boolean {
  let at = from;
  while (lines.signAt(at) === '') at++;
  return isRow(lines, at);
}

/** Stops at the next file and at an email signature, which both look like removed lines. */
function isRow(lines: PatchLines, at: number): boolean {
  const sign = lines.signAt(at);
  if (sign !== '-') return sign === ' ' || sign === '+';
  const isFile =
    lines.startsWith(at, '--- ') && lines.startsWith(at + 1, '+++ ') && lines.startsWith(at + 2, '@@ ');
  const isSignature =
    lines.startsWith(at, '-- ') && lines.at(at) === '-- ' && /^\d/.test(lines.signAt(at + 1) ?? '');
  return !isFile && !isSignature;
}

/** Editors strip the single space of an empty context line. */
function isStrippedContext(lines: PatchLines, at: number): boolean {
  return lines.signAt(at) === '' && at < lines.count - 1;
}
