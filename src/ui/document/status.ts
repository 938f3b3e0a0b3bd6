import { lastUpTo } from '../../text/sorted.js';
import type { Document } from './document.js';
import { grouped } from './grouped.js';

/**
 * Where one is, in our own words: `12–34 of 5,000 · hunk 2/5 · file 1/3`.
 * @param lines that are seen
 * @param here the line that one is at
 */
export function statusOf(document: Document, lines: readonly number[], here: number): string {
  const [from = 0, to = 0] = [lines[0], lines.at(-1)];
  const range = `${grouped(from + 1)}–${grouped(to + 1)} of ${grouped(document.length)}`;
  return [range, ...hunkOf(document, here), ...fileOf(document, here)].join(' · ');
}

function* fileOf(document: Document, here: number): Generator<string> {
  const files = document.landmarks('file');
  const file = lastUpTo(files, here);
  if (file >= 0 && files.length > 1) yield `file ${grouped(file + 1)}/${grouped(files.length)}`;
}

/** Among those of its file, as its header counts it. */
function* hunkOf(document: Document, here: number): Generator<string> {
  const [files, hunks] = [document.landmarks('file'), document.landmarks('hunk')];
  const file = lastUpTo(files, here);
  const upTo = (line: number | undefined) =>
    line === undefined ? hunks.length : lastUpTo(hunks, line - 1) + 1;
  const first = upTo(files[file] ?? 0);
  const hunk = lastUpTo(hunks, here) + 1 - first;
  if (hunk > 0) yield `hunk ${grouped(hunk)}/${grouped(upTo(files[file + 1]) - first)}`;
}
