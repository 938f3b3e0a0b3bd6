import type { DiffFile, Hidden, Hunk } from '../display/diff/model.js';
import type { Line } from './line.js';
import { quote, say } from './spans.js';

interface Sums {
  readonly added: number;
  readonly removed: number;
}

/** Above a diff of several files. */
export function summary(files: number, sums: Sums): Line {
  return [say(`${files} files`), ...changes(sums)];
}

export function fileHeader({ oldPath, newPath, ...file }: DiffFile): Line {
  const path = oldPath === newPath ? newPath : `${oldPath} → ${newPath}`;
  const notes = notesOn(file).join(', ');
  return [...quote(path, 'title'), ...(notes === '' ? [] : [say(` (${notes})`, 'dim')]), ...changes(file)];
}

/** Nobody is to be deceived by what cannot be seen. */
export function hiddenLine({ count, pictures }: Hidden): Line {
  const are = count === 1 ? 'hidden character' : 'hidden characters';
  return [say(`${count} ${are}, shown as ${pictures.join(' or ')}`, 'warn')];
}

/** @param place of the hunk among those of its file, from 1 on */
export function hunkHeader(hunk: Hunk, place: number, hunks: number): Line {
  const { oldStart, oldCount, newStart, newCount, section } = hunk;
  return [
    ...(hunks > 1 ? [say(`hunk ${place}/${hunks} `, 'dim')] : []),
    say(`@@ -${oldStart},${oldCount} +${newStart},${newCount} @@`, 'hunk'),
    ...(section === '' ? [] : [say(' '), ...quote(section, 'dim')]),
  ];
}

/** In the place of lines that are the same in both files. */
export function gapLine(count: number): Line {
  return [say(`⋯ ${count} unchanged line${count === 1 ? '' : 's'}`, 'dim')];
}

function changes({ added, removed }: Sums): Line {
  return [say(` +${added}`, 'added'), say(` −${removed}`, 'removed')];
}

function notesOn({ kind, oldMode, newMode }: Pick<DiffFile, 'kind' | 'oldMode' | 'newMode'>): string[] {
  const modes = oldMode && newMode ? [`mode ${oldMode} → ${newMode}`] : [];
  return kind === 'changed' || kind === 'mode' ? modes : [kind, ...modes];
}
