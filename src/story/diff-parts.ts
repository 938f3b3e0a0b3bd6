import { firstLine, lastLine } from '../display/diff/blocks.js';
import type { Diff, DiffFile, Hunk } from '../display/diff/model.js';
import { fileHeader, gapLine, hiddenLine, hunkHeader, summary } from './diff-headers.js';
import { type HunkLayout, heightOfHunk, layHunk } from './diff-hunk.js';
import type { DiffLook, FileLook } from './diff-look.js';
import type { Line } from './line.js';

/** A part of the layout that knows its height before anything is drawn. */
export interface Part {
  readonly height: number;
  /** What begins with it. */
  readonly begins: 'file' | 'hunk' | null;
  /** The headers that it stands under. */
  readonly under: readonly (() => Line)[];
  /** Its lines are counted from its own first. */
  line(at: number): Line;
  /** What the diff itself says on a line: no numbers, no words of ours. */
  textsAt(at: number): readonly string[];
  /** Which row of the hunk stands on a line, counted from its first one; that is the same under every look. */
  rowAt(at: number): number;
  /** The line of a row; where it is folded away, the fold. */
  lineOf(row: number): number;
}

/** A diff from its first line to its last. */
export function* partsOf({ files, ...sums }: Diff, look: DiffLook): Generator<Part> {
  const digits = String(lastNumber(files)).length;
  if (files.length > 1) yield single([], () => summary(files.length, sums));
  for (const file of files) yield* partsOfFile(file, digits, look);
}

function* partsOfFile(file: DiffFile, digits: number, look: DiffLook): Generator<Part> {
  const { hunks, hidden, oldPath, newPath: path } = file;
  const own = { ...look, path, digits };
  const title = () => fileHeader(file);
  yield { ...single([], title), begins: 'file', textsAt: () => [...new Set([oldPath, path])] };
  if (hidden.count > 0) yield single([title], () => hiddenLine(hidden));
  for (const [index, hunk] of hunks.entries()) {
    const gap = linesBetween(hunks[index - 1], hunk);
    if (gap > 0) yield single([title], () => gapLine(gap));
    const heading = () => hunkHeader(hunk, index + 1, hunks.length);
    yield { ...single([title], heading), begins: 'hunk', textsAt: () => [hunk.section] };
    yield rowsPart(hunk, own, [title, heading]);
  }
}

/** A line of our own words. */
function single(under: Part['under'], draw: () => Line): Part {
  return { height: 1, begins: null, under, line: draw, textsAt: () => [], rowAt: () => 0, lineOf: () => 0 };
}

/** Where each row stands is found out only for a hunk that is looked at. */
function rowsPart(hunk: Hunk, look: FileLook, under: Part['under']): Part {
  let layout: HunkLayout | undefined;
  const laid = () => {
    layout ??= layHunk(hunk, look);
    return layout;
  };
  return {
    height: heightOfHunk(hunk, look),
    begins: null,
    under,
    line: at => laid().line(at),
    textsAt: at => laid().textsAt(at),
    rowAt: at => laid().rowAt(at),
    lineOf: row => laid().lineOf(row),
  };
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
