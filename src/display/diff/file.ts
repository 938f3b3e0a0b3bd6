import type { StructuredPatch } from 'diff';
import { hiddenIn } from './hidden.js';
import { rowsOf } from './hunk-rows.js';
import type { DiffFile, FileKind, Hunk } from './model.js';
import type { HunkOutline } from './outline.js';
import type { PatchLines } from './patch-lines.js';

const NOWHERE = '/dev/null';

/** What a patch is read from; `path` names the file of one that has no file headers. */
export interface Source {
  readonly lines: PatchLines;
  readonly path: string;
}

/** One file of the parsed patch; `outlines` are those of its hunks, in order. */
export function fileOf(
  patch: StructuredPatch,
  outlines: readonly HunkOutline[],
  { lines, path }: Source,
): DiffFile {
  const hunks = outlines.map(outline => hunkOf(outline, lines));
  const { oldPath, newPath } = pathsOf(patch, path);
  const sum = (of: (hunk: Hunk) => number) => hunks.reduce((total, hunk) => total + of(hunk), 0);
  return {
    oldPath,
    newPath,
    kind: kindOf(patch),
    ...(patch.oldMode === undefined ? {} : { oldMode: patch.oldMode }),
    ...(patch.newMode === undefined ? {} : { newMode: patch.newMode }),
    hunks,
    added: sum(({ rows, oldCount }) => rows.length - oldCount),
    removed: sum(({ rows, newCount }) => rows.length - newCount),
    hidden: hiddenIn(oldPath === newPath ? '' : oldPath, newPath, textOf(outlines, lines)),
  };
}

function hunkOf(outline: HunkOutline, lines: PatchLines): Hunk {
  const { oldStart, newStart, has, section } = outline;
  const rows = rowsOf(lines, outline);
  return { oldStart, oldCount: has.old, newStart, newCount: has.new, section, rows };
}

/** Everything between a file's first hunk and the end of its last. */
function textOf(outlines: readonly HunkOutline[], lines: PatchLines): string {
  const [first, last] = [outlines[0], outlines.at(-1)];
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
  if (patch.isCreate || patch.oldFileName === NOWHERE) return 'created';
  if (patch.isDelete || patch.newFileName === NOWHERE) return 'deleted';
  if (patch.isRename) return 'renamed';
  if (patch.isCopy) return 'copied';
  return patch.hunks.length === 0 && patch.newMode !== undefined ? 'mode' : 'changed';
}
