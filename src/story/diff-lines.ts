import type { Diff, DiffFile, Hunk } from '../display/diff/model.js';
import { drawRows, heightOf } from './diff-rows.js';
import type { Line } from './line.js';
import { quote, say } from './spans.js';
import type { Window } from './text-lines.js';

/** A part of the layout that knows its height before anything is drawn. */
interface Block {
  readonly height: number;
  /** Its lines `from` … `to`, counted from its own first. */
  draw(from: number, to: number): Line[];
}

/**
 * A diff as lines: a header per file, a header per hunk, rows with both line numbers and a sign.
 * Only the lines asked for are built.
 * @param window `from` (0-based, 0 unless told) and `count`, in lines
 */
export function diffLines(diff: Diff, { from = 0, count }: { from?: number; count: number }): Window {
  const lines: Line[] = [];
  let total = 0;
  for (const { height, draw } of blocksOf(diff)) {
    const start = Math.max(from - total, 0);
    const end = Math.min(from + count - total, height);
    if (start < end) for (const line of draw(start, end)) lines.push(line);
    total += height;
  }
  return { lines, total };
}

function* blocksOf({ files }: Diff): Generator<Block> {
  const digits = String(lastNumber(files)).length;
  for (const file of files) {
    yield { height: 1, draw: () => [fileHeader(file)] };
    for (const hunk of file.hunks) {
      yield { height: 1, draw: () => [hunkHeader(hunk)] };
      yield { height: heightOf(hunk.rows), draw: (from, to) => drawRows(hunk.rows, digits, from, to) };
    }
  }
}

function lastNumber(files: readonly DiffFile[]): number {
  let last = 0;
  for (const { hunks } of files)
    for (const { oldStart, oldCount, newStart, newCount } of hunks)
      last = Math.max(last, oldStart + oldCount, newStart + newCount);
  return last;
}

function fileHeader({ oldPath, newPath, added, removed, ...file }: DiffFile): Line {
  const path = oldPath === newPath ? newPath : `${oldPath} → ${newPath}`;
  const notes = notesOn(file).join(', ');
  return [
    ...quote(path, 'title'),
    ...(notes === '' ? [] : [say(` (${notes})`, 'dim')]),
    say(` +${added}`, 'added'),
    say(` −${removed}`, 'removed'),
  ];
}

function notesOn({ kind, oldMode, newMode }: Pick<DiffFile, 'kind' | 'oldMode' | 'newMode'>): string[] {
  const modes = oldMode && newMode ? [`mode ${oldMode} → ${newMode}`] : [];
  return kind === 'changed' || kind === 'mode' ? modes : [kind, ...modes];
}

function hunkHeader({ oldStart, oldCount, newStart, newCount, section }: Hunk): Line {
  const where = say(`@@ -${oldStart},${oldCount} +${newStart},${newCount} @@`, 'hunk');
  return section === '' ? [where] : [where, say(' '), ...quote(section, 'dim')];
}
