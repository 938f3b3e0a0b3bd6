import * as z from 'zod/mini';
import type { View } from '../exchange/thread.js';
import { validate } from '../protocol/validate.js';
import { excerpt } from '../text/excerpt.js';
import { patchOf } from '../text/patch-of.js';
import { visibleLine } from '../text/visible.js';
import { hiddenIn } from './diff/hidden.js';
import type { DiffFile, FileKind } from './diff/model.js';
import { parsePatch } from './diff/parse.js';
import { diffKind } from './segments/diff.js';
import type { Reading } from './segments/kind.js';
import { malformed } from './segments/malformed.js';

/** What is drawn of a view of a thread (RT-VIEW). The content of a `diff` is `{patch}`, or `{files}` with both contents of each file. */
export function readView({ type, content }: Pick<View, 'type' | 'content'>): Reading {
  if (type !== 'diff') return { ok: false, reason: `unknown view type ${excerpt(type)}, shown as JSON` };
  if (Array.isArray(content['files']) && content['patch'] === undefined) return readFiles(content);
  return diffKind.read({ path: '', ...content });
}

const Files = z.object({
  files: z.array(
    z.object({
      path: z.string(),
      status: z.nullish(z.string()),
      oldContents: z.nullish(z.string()),
      newContents: z.nullish(z.string()),
    }),
  ),
});

type ChangedFile = z.infer<typeof Files>['files'][number];

/** The work of a diff grows with the square of its edits: this is for all files of a view together. */
const MAX_EDITS = 2_000;

function readFiles(content: View['content']): Reading {
  const checked = validate(Files, content);
  if (!checked.ok) return malformed('diff', ...checked.faults);
  const { files: changed } = checked.value;
  const maxEdits = Math.ceil(MAX_EDITS / Math.sqrt(changed.length));
  const files: DiffFile[] = [];
  const patches: string[] = [];
  for (const each of changed) {
    const hunks = hunksOf(each, maxEdits);
    const file = fileOf(each, hunks);
    if (typeof file === 'string') return malformed('diff', `${visibleLine(each.path)}: ${file}`);
    files.push(file);
    patches.push(headersOf(each) + hunks);
  }
  const sum = (of: 'added' | 'removed') => files.reduce((total, file) => total + file[of], 0);
  const diff = { files, added: sum('added'), removed: sum('removed') };
  return { ok: true, drawing: { kind: 'diff', path: '', diff, raw: patches.join('') } };
}

/** The hunks alone: a path can hold anything, line feeds too, and must not be read as part of the patch. */
function hunksOf({ oldContents, newContents }: ChangedFile, maxEdits: number): string {
  const patch = patchOf('file', oldContents ?? '', newContents ?? '', maxEdits);
  const start = patch.indexOf('@@');
  return start < 0 ? '' : patch.slice(start);
}

/** @returns the reason where the diff cannot be drawn */
function fileOf({ path, status }: ChangedFile, hunks: string): DiffFile | string {
  const names = { oldPath: path, newPath: path, kind: kindOf(status) };
  if (hunks === '') return { ...names, hunks: [], added: 0, removed: 0, hidden: hiddenIn('', path, '') };
  const parsed = parsePatch(hunks, path);
  if (!parsed.ok) return parsed.reason;
  const [file] = parsed.diff.files;
  return file ? { ...file, ...names } : 'it has no hunks';
}

function kindOf(status: ChangedFile['status']): FileKind {
  if (status === 'added') return 'created';
  return status === 'deleted' ? 'deleted' : 'changed';
}

function headersOf({ path, status }: ChangedFile): string {
  const name = visibleLine(path);
  const [from, to] = [
    status === 'added' ? '/dev/null' : `a/${name}`,
    status === 'deleted' ? '/dev/null' : `b/${name}`,
  ];
  return `--- ${from}\n+++ ${to}\n`;
}
