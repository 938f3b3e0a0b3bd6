import { parsePatch as parseHeaders, type StructuredPatch } from 'diff';
import { excerpt } from '../util/text.js';
import { hiddenIn, visibleLine } from '../util/visible.js';
import { type Hunk, type ReadHunk, type Rows, readHunk } from './hunks.js';
import { PatchLines } from './patch-lines.js';

/** A parsed unified diff, independent of the tool that wrote it. */
export interface Diff {
  readonly files: readonly DiffFile[];
}

type FileKind = 'changed' | 'created' | 'deleted' | 'renamed' | 'copied' | 'mode' | 'binary' | 'unchanged';

export interface DiffFile {
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
  const sections = sectionsOf(lines);
  const hunks = sections.flatMap(section => section.hunks);
  const outside = sections.flatMap(section => section.outside);
  const fault = strayFault(lines, outside, hunks[0]?.at) ?? hollowFault(hunks);
  if (fault !== undefined) return { ok: false, reason: fault };
  try {
    const files = filesIn(lines, sections).map(file => fileOf(file, lines, path));
    return { ok: true, diff: { files }, recounted: miscounts(hunks) };
  } catch (error) {
    return { ok: false, reason: visibleLine(error instanceof Error ? error.message : String(error)) };
  }
}

/** Lines outside of hunks, by index, and the hunks that follow them. */
interface Section {
  readonly outside: number[];
  readonly hunks: ReadHunk[];
}

/** Assigns every line of a patch to a hunk or to the text outside of hunks. */
function sectionsOf(lines: PatchLines): readonly Section[] {
  let section: Section = { outside: [], hunks: [] };
  const sections = [section];
  for (let at = 0; at < lines.count; at++) {
    const hunk = readHunk(lines, at);
    if (hunk) {
      section.hunks.push(hunk);
      at += hunk.height;
      continue;
    }
    if (section.hunks.length > 0) {
      section = { outside: [], hunks: [] };
      sections.push(section);
    }
    section.outside.push(at);
  }
  return sections;
}

/** Lines allowed between hunks: the headers of diff, git, svn and hg. */
const HEADER =
  /^(?:\s*$|(?:---|\+\+\+)[ \t]|diff |index |Index: |=+\r?$|(?:old|new|deleted file|new file) mode |(?:rename|copy) (?:from|to) |(?:dis)?similarity index |Binary files )/;

/** Why these lines are not a unified diff, for the author of the tool; undefined if they are one. */
function strayFault(
  lines: PatchLines,
  outside: readonly number[],
  firstHunk = Number.POSITIVE_INFINITY,
): string | undefined {
  const stray = outside.find(at => !HEADER.test(lines.at(at) ?? ''));
  if (stray === undefined) return undefined;
  return `line ${stray + 1}: ${strayReason(lines.at(stray) ?? '', stray > firstHunk)}`;
}

function strayReason(line: string, isInside: boolean): string {
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

function hollowFault(hunks: readonly ReadHunk[]): string | undefined {
  const hollow = hunks.findIndex(({ height }) => height === 0);
  return hollow < 0 ? undefined : `hunk ${hollow + 1} has no lines`;
}

/** One message for each hunk with a wrong header (TOOL-DIFF; the example of seed 000 has one). */
function miscounts(hunks: readonly ReadHunk[]): string[] {
  return hunks.flatMap(({ stated, oldCount, newCount }, index) =>
    stated.old === oldCount && stated.new === newCount
      ? []
      : [`hunk ${index + 1}: says −${stated.old} +${stated.new} lines, has −${oldCount} +${newCount}`],
  );
}

/** The headers of a file, and its hunks. */
interface FileInPatch {
  readonly header: StructuredPatch;
  readonly hunks: ReadHunk[];
}

/** The lines with which the headers of a file begin. Other headers after a hunk belong to the file of that hunk. */
const FILE_START = /^(?:---|\+\+\+|diff --git |diff(?: -r \w+)+\s|Index:|={67})/;

/**
 * Reads the headers of files. The last of several headers in a row has the hunks that follow.
 * @throws Error if a file has only one of the lines `---` and `+++`
 */
function filesIn(lines: PatchLines, sections: readonly Section[]): readonly FileInPatch[] {
  const files: FileInPatch[] = [];
  for (const { outside, hunks } of sections) {
    const headers = outside.map(at => (lines.at(at) ?? '').replace(/\r$/, ''));
    if (files.length === 0 || headers.some(line => FILE_START.test(line)))
      for (const header of parseHeaders(headers.join('\n'))) files.push({ header, hunks: [] });
    for (const hunk of hunks) files.at(-1)?.hunks.push(hunk);
  }
  return files;
}

const NOWHERE = '/dev/null';

/** @param path for a patch without file headers */
function fileOf({ header, hunks }: FileInPatch, lines: PatchLines, path: string): DiffFile {
  const { oldPath, newPath } = pathsOf(header, path);
  const { oldMode, newMode } = header;
  const sum = (of: (hunk: Hunk) => number) => hunks.reduce((total, hunk) => total + of(hunk), 0);
  const isCrlf = endsWithReturns(hunks);
  const text = textOf(hunks, lines);
  return {
    oldPath,
    newPath,
    kind: kindOf(header, hunks),
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

function kindOf(header: StructuredPatch, hunks: readonly Hunk[]): FileKind {
  if (header.isBinary) return 'binary';
  const isNew = header.oldFileName === NOWHERE;
  const isGone = header.newFileName === NOWHERE;
  if (header.isCreate || (isNew && !isGone)) return 'created';
  if (header.isDelete || (isGone && !isNew)) return 'deleted';
  if (header.isRename) return 'renamed';
  if (header.isCopy) return 'copied';
  if (hunks.length > 0) return 'changed';
  return header.newMode === undefined ? 'unchanged' : 'mode';
}

export function isEmptyDiff({ files }: Diff): boolean {
  return files.every(({ kind }) => kind === 'unchanged');
}

/** The added and removed rows of all files. */
export function totalsOf({ files }: Diff): Pick<DiffFile, 'added' | 'removed'> {
  const sum = (of: 'added' | 'removed') => files.reduce((total, file) => total + file[of], 0);
  return { added: sum('added'), removed: sum('removed') };
}
