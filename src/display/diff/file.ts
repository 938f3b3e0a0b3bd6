import type { StructuredPatch } from 'diff';
import type { DiffFile, FileKind, Hunk, RowKind } from './model.js';
import type { HunkOutline } from './outline.js';
import { rowsOf } from './rows.js';

const NOWHERE = '/dev/null';

/** One file of the parsed patch; `outlines` are those of its hunks, in order. */
export function fileOf(patch: StructuredPatch, outlines: readonly HunkOutline[], fallback: string): DiffFile {
  const hunks = outlines.map((outline, index) => hunkOf(outline, patch.hunks[index]));
  return {
    ...pathsOf(patch, fallback),
    kind: kindOf(patch),
    ...(patch.oldMode === undefined ? {} : { oldMode: patch.oldMode }),
    ...(patch.newMode === undefined ? {} : { newMode: patch.newMode }),
    hunks,
    added: countRows(hunks, 'added'),
    removed: countRows(hunks, 'removed'),
  };
}

function hunkOf(
  { oldStart, newStart, has, section }: HunkOutline,
  parsed?: StructuredPatch['hunks'][number],
): Hunk {
  return {
    oldStart,
    oldCount: has.old,
    newStart,
    newCount: has.new,
    section,
    rows: parsed ? rowsOf(parsed.lines, parsed.oldStart, parsed.newStart) : [],
  };
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

function countRows(hunks: readonly Hunk[], kind: RowKind): number {
  return hunks.reduce((sum, { rows }) => sum + rows.filter(row => row.kind === kind).length, 0);
}
