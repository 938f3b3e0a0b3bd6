import type { StructuredPatch } from 'diff';
import { excerpt } from '../../text/excerpt.js';
import type { Outline } from './outline.js';
import type { PatchLines } from './patch-lines.js';

/** What may stand between hunks: the headers of diff, git, svn and hg. */
const HEADER =
  /^(?:(?:---|\+\+\+)[ \t]|diff |index |Index: |=+\r?$|(?:old|new|deleted file|new file) mode |(?:rename|copy) (?:from|to) |(?:dis)?similarity index |Binary files )/;

/** Why these lines are no unified diff, in words for the author of the tool; undefined when nothing speaks against it. */
export function faultOf(lines: PatchLines, { hunks, outside }: Outline): string | undefined {
  const stray = outside.find(at => !isHeader(lines.at(at) ?? ''));
  if (stray !== undefined) {
    const inside = (hunks[0]?.at ?? lines.count) < stray;
    return `line ${stray + 1}: ${strayFault(lines.at(stray) ?? '', inside)}`;
  }
  const hollow = hunks.findIndex(({ height }) => height === 0);
  return hollow < 0 ? undefined : `hunk ${hollow + 1} has no lines`;
}

function isHeader(line: string): boolean {
  return line.trim() === '' || HEADER.test(line);
}

function strayFault(line: string, inside: boolean): string {
  const found = excerpt(line);
  if (line.startsWith('\uFEFF')) return 'a byte order mark (U+FEFF) stands before the patch';
  if (line.startsWith('@@@')) return `${found} is a combined diff of a merge; diff against a single parent`;
  if (line.startsWith('@@')) return `${found} is no hunk header; it looks like "@@ -1,3 +1,4 @@"`;
  if (line.startsWith('GIT binary patch')) return 'a binary patch cannot be drawn; leave out --binary';
  if (line === '-- ') return 'a mail\'s signature ("-- ") follows the diff';
  if (line.startsWith('\\')) return `${found} has no row before it to be about`;
  if (inside) return `${found} starts with none of " ", "+", "-" and "\\"`;
  return `${found} is not part of a unified diff`;
}

/** Why parsed files say less than a diff should: each has a hunk, unless git says why it has none. */
export function missingHunk(files: readonly StructuredPatch[]): string | undefined {
  const empty = files.find(file => file.hunks.length === 0 && !needsNoHunk(file));
  if (!empty) return undefined;
  const name = empty.newFileName ?? empty.index;
  return `no hunk${name === undefined ? '' : ` for ${excerpt(name)}`}: nothing like "@@ -1,3 +1,4 @@"`;
}

function needsNoHunk(file: StructuredPatch): boolean {
  const { isRename, isCopy, isCreate, isDelete, isBinary, newMode } = file;
  return Boolean(isRename || isCopy || isCreate || isDelete || isBinary || newMode);
}
