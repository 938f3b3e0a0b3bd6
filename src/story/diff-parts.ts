import { firstLine, lastLine } from '../display/diff/blocks.js';
import type { Diff, DiffFile, Hunk } from '../display/diff/model.js';
import { fileHeader, gapLine, hiddenLine, hunkHeader, summary } from './diff-headers.js';
import { heightOfHunk, hunkLines } from './diff-hunk.js';
import type { DiffLook } from './diff-look.js';
import type { Line } from './line.js';

/** A part of the layout that knows its height before anything is drawn. */
export interface Part {
  readonly height: number;
  /** The headers that it stands under. */
  readonly under: readonly (() => Line)[];
  /** Its lines `from` … `to`, counted from its own first. */
  draw(from: number, to: number): Iterable<Line>;
}

/** A diff from its first line to its last. */
export function* partsOf({ files, ...sums }: Diff, look: DiffLook): Generator<Part> {
  const digits = String(lastNumber(files)).length;
  if (files.length > 1) yield header([], () => summary(files.length, sums));
  for (const file of files) yield* partsOfFile(file, digits, look);
}

function* partsOfFile(file: DiffFile, digits: number, look: DiffLook): Generator<Part> {
  const { hunks, hidden, newPath: path } = file;
  const own = { ...look, path, digits };
  const title = () => fileHeader(file);
  yield header([], title);
  if (hidden.count > 0) yield header([title], () => hiddenLine(hidden));
  for (const [index, hunk] of hunks.entries()) {
    const gap = linesBetween(hunks[index - 1], hunk);
    if (gap > 0) yield header([title], () => gapLine(gap));
    const heading = () => hunkHeader(hunk, index + 1, hunks.length);
    yield header([title], heading);
    yield {
      height: heightOfHunk(hunk, own),
      under: [title, heading],
      draw: (from, to) => hunkLines(hunk, own, from, to),
    };
  }
}

function header(under: Part['under'], draw: () => Line): Part {
  return { height: 1, under, draw: () => [draw()] };
}

/** Lines that both files have between two hunks, as far as the headers tell. */
function linesBetween(before: Hunk | undefined, { newStart, newCount }: Hunk): number {
  if (!before) return 0;
  return firstLine(newStart, newCount) - firstLine(before.newStart, before.newCount) - before.newCount;
}

function lastNumber(files: readonly DiffFile[]): number {
  let last = 0;
  for (const { hunks } of files)
    for (const { oldStart, oldCount, newStart, newCount } of hunks)
      last = Math.max(last, lastLine(oldStart, oldCount), lastLine(newStart, newCount));
  return last;
}
