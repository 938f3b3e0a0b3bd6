import { parsePatch as parseWithJsdiff, type StructuredPatch } from 'diff';
import { excerpt } from '../util/text.js';
import { hiddenIn, visibleLine } from '../util/visible.js';

/** A parsed unified diff, independent of the tool that wrote it. */
export interface Diff {
  readonly files: readonly DiffFile[];
}

type FileKind = 'changed' | 'created' | 'deleted' | 'renamed' | 'copied' | 'mode' | 'binary' | 'unchanged';

interface DiffFile {
  /** Paths have no `a/` and `b/` prefixes. For created and deleted files, both paths are the same. */
  readonly oldPath: string;
  readonly newPath: string;
  readonly kind: FileKind;
  readonly oldMode?: string;
  readonly newMode?: string;
  readonly hunks: readonly Hunk[];
  readonly added: number;
  readonly removed: number;
  /** Whether each line ends with CR LF; the rows are without the CR. */
  readonly isCrlf: boolean;
  /** The number of hidden characters, and the first few replacements. */
  readonly hidden: { readonly count: number; readonly replacements: readonly string[] };
}

/** Starts are those of the header; counts are those of the body. */
interface Hunk {
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
interface ReadHunk extends Hunk {
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

/** The lines of a patch, as offsets; each line is sliced when it is read. */
class PatchLines {
  readonly #starts: Uint32Array;

  /** @param max maximum number of lines; one more is counted, so that {@link count} exceeds it */
  constructor(
    readonly text: string,
    max = Number.POSITIVE_INFINITY,
  ) {
    const starts = [0];
    for (let end = text.indexOf('\n'); end >= 0 && starts.length <= max; end = text.indexOf('\n', end + 1))
      starts.push(end + 1);
    this.#starts = Uint32Array.from(starts);
  }

  get count(): number {
    return this.#starts.length;
  }

  /** A line without its line feed; undefined if out of range. */
  at(index: number): string | undefined {
    const start = this.#starts[index];
    if (start === undefined) return undefined;
    const next = this.#starts[index + 1];
    return this.text.slice(start, next === undefined ? undefined : next - 1);
  }

  /** The first character of a line, `''` if it is empty; undefined if out of range. */
  signAt(index: number): string | undefined {
    const start = this.#starts[index];
    if (start === undefined) return undefined;
    const sign = this.text.charAt(start);
    return sign === '\n' ? '' : sign;
  }

  startsWith(index: number, words: string): boolean {
    const start = this.#starts[index];
    return start !== undefined && this.text.startsWith(words, start);
  }

  /** The offsets of the lines `from` … `to`. */
  starts(from: number, to: number): Uint32Array {
    return this.#starts.subarray(from, to);
  }

  /** Parses `@@ -1,3 +1,4 @@ section` and its body; undefined for other lines and for impossible numbers. */
  hunkAt(at: number): ReadHunk | undefined {
    const match = HUNK_HEADER.exec(this.at(at) ?? '');
    if (!match) return undefined;
    const [, oldStart, oldStated = '1', newStart, newStated = '1', section = ''] = match;
    const numbers = [oldStart, newStart, oldStated, newStated].map(Number);
    if (!numbers.every(Number.isSafeInteger)) return undefined;
    const stated = { old: Number(oldStated), new: Number(newStated) };
    const { height, has } = this.#measure(at + 1, stated);
    const starts = this.starts(at + 1, at + 1 + height);
    // A `\\ No newline` line belongs to the row before it.
    const isRow = (start: number) => this.text.charAt(start) !== REMARK;
    const rows = new HunkRows(this.text, starts.every(isRow) ? starts : starts.filter(isRow));
    const counts = { oldCount: has.old, newCount: has.new };
    const begins = { oldStart: Number(oldStart), newStart: Number(newStart) };
    return { ...begins, ...counts, section: section.trim(), rows, at, height, stated };
  }

  /** Uses the counts of the header if the lines match them, else takes all lines that look like part of the hunk. */
  #measure(from: number, stated: Counts): { readonly height: number; readonly has: Counts } {
    const asStated = this.#walk(from, stated);
    const isKept = asStated.has.old === stated.old && asStated.has.new === stated.new;
    if (isKept && !this.#goesOn(from + asStated.height)) return asStated;
    const { height, has } = this.#walk(from, ANY);
    let blank = 0; // if the header is wrong, trailing empty lines are not part of the hunk
    while (blank < height && this.signAt(from + height - 1 - blank) === '') blank++;
    return { height: height - blank, has: { old: has.old - blank, new: has.new - blank } };
  }

  #walk(from: number, limit: Counts) {
    const has = { old: 0, new: 0 };
    // `\\ No newline at end of file`, in any language, belongs to the row before it.
    const isRemark = () => at > from && this.startsWith(at, '\\ ');
    let at = from;
    for (; has.old < limit.old || has.new < limit.new; at++) {
      if (!this.#isRow(at) && !this.#isStrippedContext(at) && !isRemark()) break;
      const sign = this.signAt(at);
      if (sign !== '+' && sign !== '\\') has.old++;
      if (sign !== '-' && sign !== '\\') has.new++;
    }
    while (isRemark()) at++;
    return { height: at - from, has };
  }

  #goesOn(from: number): boolean {
    let at = from;
    while (this.signAt(at) === '') at++;
    return this.#isRow(at);
  }

  /** Stops at the next file and at an email signature, which both look like removed lines. */
  #isRow(at: number): boolean {
    const sign = this.signAt(at);
    if (sign !== '-') return sign === ' ' || sign === '+';
    const isFile =
      this.startsWith(at, '--- ') && this.startsWith(at + 1, '+++ ') && this.startsWith(at + 2, '@@ ');
    const isSignature =
      this.startsWith(at, '-- ') && this.at(at) === '-- ' && /^\d/.test(this.signAt(at + 1) ?? '');
    return !isFile && !isSignature;
  }

  /** Editors strip the single space of an empty context line. */
  #isStrippedContext(at: number): boolean {
    return this.signAt(at) === '' && at < this.count - 1;
  }
}

/** Assigns every line of a patch to a hunk or to the text outside of hunks. */
interface Outline {
  readonly hunks: readonly ReadHunk[];
  readonly outside: readonly number[];
}

function outlineOf(lines: PatchLines): Outline {
  const hunks: ReadHunk[] = [];
  const outside: number[] = [];
  for (let at = 0; at < lines.count; at++) {
    const hunk = lines.hunkAt(at);
    if (hunk) {
      hunks.push(hunk);
      at += hunk.height;
    } else outside.push(at);
  }
  return { hunks, outside };
}

/** Lines allowed between hunks: the headers of diff, git, svn and hg. */
const HEADER =
  /^(?:\s*$|(?:---|\+\+\+)[ \t]|diff |index |Index: |=+\r?$|(?:old|new|deleted file|new file) mode |(?:rename|copy) (?:from|to) |(?:dis)?similarity index |Binary files )/;

/** Why these lines are not a unified diff, for the author of the tool; undefined if they are one. */
function faultOf(lines: PatchLines, { hunks, outside }: Outline): string | undefined {
  const stray = outside.find(at => !HEADER.test(lines.at(at) ?? ''));
  if (stray !== undefined) {
    const isInside = (hunks[0]?.at ?? lines.count) < stray;
    return `line ${stray + 1}: ${strayFault(lines.at(stray) ?? '', isInside)}`;
  }
  const hollow = hunks.findIndex(({ height }) => height === 0);
  return hollow < 0 ? undefined : `hunk ${hollow + 1} has no lines`;
}

function strayFault(line: string, isInside: boolean): string {
  const found = excerpt(line);
  if (line.startsWith('@@@')) return `${found} is a combined diff of a merge; diff against a single parent`;
  if (line.startsWith('@@')) return `${found} is not a hunk header; expected "@@ -1,3 +1,4 @@"`;
  if (line.startsWith('GIT binary patch'))
    return 'binary patches cannot be shown; create the diff without --binary';
  if (line === '-- ') return 'a mail\'s signature ("-- ") follows the diff';
  if (line.startsWith('\\')) return `${found} has no line before it`;
  if (isInside) return `${found} does not start with " ", "+", "-" or "\\"`;
  return `${found} is not part of a unified diff`;
}

const NOWHERE = '/dev/null';

/** Builds a file of the parsed patch. @param hunks its own, in order @param path for a patch without file headers */
function fileOf(
  patch: StructuredPatch,
  hunks: readonly ReadHunk[],
  lines: PatchLines,
  path: string,
): DiffFile {
  const { oldPath, newPath } = pathsOf(patch, path);
  const { oldMode, newMode } = patch;
  const sum = (of: (hunk: Hunk) => number) => hunks.reduce((total, hunk) => total + of(hunk), 0);
  const isCrlf = endsWithReturns(hunks);
  const text = textOf(hunks, lines);
  return {
    oldPath,
    newPath,
    kind: kindOf(patch),
    ...(oldMode !== undefined && { oldMode }),
    ...(newMode !== undefined && { newMode }),
    hunks: isCrlf ? hunks.map(hunk => ({ ...hunk, rows: withoutReturns(hunk.rows) })) : hunks,
    isCrlf,
    added: sum(({ rows, oldCount }) => rows.length - oldCount),
    removed: sum(({ rows, newCount }) => rows.length - newCount),
    hidden: hiddenIn(
      oldPath === newPath ? '' : oldPath,
      newPath,
      isCrlf ? text.replaceAll('\r\n', '\n') : text,
    ),
  };
}

/** Whether each row ends with CR LF, except for a last one without a line feed. */
function endsWithReturns(hunks: readonly Hunk[]): boolean {
  let hasReturn = false;
  for (const { rows } of hunks)
    for (let index = 0; index < rows.length; index++)
      if (rows.textAt(index).endsWith('\r')) hasReturn = true;
      else if (!rows.endsWithoutNewline(index)) return false;
  return hasReturn;
}

function withoutReturns(rows: Rows): Rows {
  return {
    length: rows.length,
    kindAt: index => rows.kindAt(index),
    textAt: index => rows.textAt(index).replace(/\r$/, ''),
    endsWithoutNewline: index => rows.endsWithoutNewline(index),
  };
}

/** The text from the beginning of a file's first hunk to the end of its last. */
function textOf(hunks: readonly ReadHunk[], lines: PatchLines): string {
  const [first, last] = [hunks[0], hunks.at(-1)];
  if (!first || !last) return '';
  const [start] = lines.starts(first.at, first.at + 1);
  const [end] = lines.starts(last.at + last.height + 1, last.at + last.height + 2);
  return lines.text.slice(start, end);
}

function pathsOf({ oldFileName, newFileName }: StructuredPatch, fallback: string) {
  const oldName = oldFileName === NOWHERE ? undefined : oldFileName;
  const newName = newFileName === NOWHERE ? undefined : newFileName;
  const prefixed = (oldName ?? 'a/').startsWith('a/') && (newName ?? 'b/').startsWith('b/');
  const [oldPath, newPath] = [oldName, newName].map(name => (prefixed ? name?.slice(2) : name));
  return { oldPath: oldPath ?? newPath ?? fallback, newPath: newPath ?? oldPath ?? fallback };
}

function kindOf(patch: StructuredPatch): FileKind {
  if (patch.isBinary) return 'binary';
  const isNew = patch.oldFileName === NOWHERE;
  const isGone = patch.newFileName === NOWHERE;
  if (patch.isCreate || (isNew && !isGone)) return 'created';
  if (patch.isDelete || (isGone && !isNew)) return 'deleted';
  if (patch.isRename) return 'renamed';
  if (patch.isCopy) return 'copied';
  if (patch.hunks.length > 0) return 'changed';
  return patch.newMode === undefined ? 'unchanged' : 'mode';
}

/** Replaces a hunk in the reduced patch; the hunk is already parsed. */
const STAND_IN = '@@ -1 +1 @@\n ';

/** The patch with stand-ins for its hunks: enough to parse the files and their numbers of hunks. */
function headingsOf(lines: PatchLines, { hunks, outside }: Outline): string {
  const headings: string[] = [];
  let next = 0;
  for (const at of outside) {
    for (; (hunks[next]?.at ?? lines.count) < at; next++) headings.push(STAND_IN);
    headings.push((lines.at(at) ?? '').replace(/\r$/, ''));
  }
  for (; next < hunks.length; next++) headings.push(STAND_IN);
  return headings.join('\n');
}

/** One message for each hunk with a wrong header (TOOL-DIFF; the example of seed 000 has one). */
function miscounts(hunks: readonly ReadHunk[]): string[] {
  return hunks.flatMap(({ stated, oldCount, newCount }, index) =>
    stated.old === oldCount && stated.new === newCount
      ? []
      : [`hunk ${index + 1}: says −${stated.old} +${stated.new} lines, has −${oldCount} +${newCount}`],
  );
}

/** Longer patches are refused. */
const MAX_LINES = 500_000;

/** `recounted` has a message for each wrong hunk header; `reason` is for the tool's author and safe to print. */
type Parsed =
  | { readonly ok: true; readonly diff: Diff; readonly recounted: readonly string[] }
  | { readonly ok: false; readonly reason: string };

/**
 * Parses a unified diff strictly: a line that fits nowhere makes the whole patch invalid. Never throws. Only wrong counts in hunk headers
 * are corrected (TOOL-DIFF). An empty patch, or one without hunks, changes nothing.
 * @param path of the file, for a patch without `---` and `+++` lines
 */
export function parsePatch(patch: string, path = ''): Parsed {
  const lines = new PatchLines(patch, MAX_LINES);
  if (lines.count > MAX_LINES) return { ok: false, reason: `has more than ${MAX_LINES} lines` };
  const outline = outlineOf(lines);
  const fault = faultOf(lines, outline);
  if (fault !== undefined) return { ok: false, reason: fault };
  try {
    const files = parseWithJsdiff(headingsOf(lines, outline));
    let taken = 0;
    const diff = {
      files: files.map(file => {
        const own = outline.hunks.slice(taken, taken + file.hunks.length);
        taken += own.length;
        return fileOf(file, own, lines, path);
      }),
    };
    return { ok: true, diff, recounted: miscounts(outline.hunks) };
  } catch (error) {
    return { ok: false, reason: visibleLine(error instanceof Error ? error.message : String(error)) };
  }
}

export function isEmptyDiff({ files }: Diff): boolean {
  return files.every(({ kind }) => kind === 'unchanged');
}

/** The added and removed rows of all files. */
export function totalsOf({ files }: Diff): Pick<DiffFile, 'added' | 'removed'> {
  const sum = (of: 'added' | 'removed') => files.reduce((total, file) => total + file[of], 0);
  return { added: sum('added'), removed: sum('removed') };
}
