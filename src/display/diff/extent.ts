import type { Counts } from './hunk-header.js';
import type { PatchLines } from './patch-lines.js';

/** What a hunk's body really is, whatever its header says. */
export interface Extent {
  /** Lines of the patch, `\ No newline at end of file` included. */
  readonly height: number;
  readonly has: Counts;
}

const ANY: Counts = { old: Number.POSITIVE_INFINITY, new: Number.POSITIVE_INFINITY };

/** Takes the header's word where the lines bear it out, else everything that looks like the hunk's body. */
export function measure(lines: PatchLines, from: number, said: Counts): Extent {
  const promised = walk(lines, from, said);
  const kept = promised.has.old === said.old && promised.has.new === said.new;
  if (kept && !goesOn(lines, from + promised.height)) return promised;
  return withoutBlankEnd(lines, from, walk(lines, from, ANY));
}

function walk(lines: PatchLines, from: number, limit: Counts): Extent {
  const has = { old: 0, new: 0 };
  let at = from;
  for (; has.old < limit.old || has.new < limit.new; at++) {
    if (!isRow(lines, at) && !isStrippedContext(lines, at) && !isRemark(lines, at, from)) break;
    const sign = lines.signAt(at);
    if (sign !== '+' && sign !== '\\') has.old++;
    if (sign !== '-' && sign !== '\\') has.new++;
  }
  while (isRemark(lines, at, from)) at++;
  return { height: at - from, has };
}

function goesOn(lines: PatchLines, from: number): boolean {
  let at = from;
  while (lines.signAt(at) === '') at++;
  return isRow(lines, at);
}

/** Ends at the next file and at a mail's signature, whose first characters would pass for removed lines. */
function isRow(lines: PatchLines, at: number): boolean {
  const sign = lines.signAt(at);
  if (sign === '-') return !startsFile(lines, at) && !startsSignature(lines, at);
  return sign === ' ' || sign === '+';
}

/** `\ No newline at end of file`, in whatever language: about the row before it, so never a hunk's first line. */
function isRemark(lines: PatchLines, at: number, from: number): boolean {
  return at > from && lines.startsWith(at, '\\ ');
}

/** Editors strip the one space that an empty context line consists of. */
function isStrippedContext(lines: PatchLines, at: number): boolean {
  return lines.signAt(at) === '' && at < lines.count - 1;
}

function startsFile(lines: PatchLines, at: number): boolean {
  return lines.startsWith(at, '--- ') && lines.startsWith(at + 1, '+++ ') && lines.startsWith(at + 2, '@@ ');
}

function startsSignature(lines: PatchLines, at: number): boolean {
  return lines.startsWith(at, '-- ') && lines.at(at) === '-- ' && /^\d/.test(lines.signAt(at + 1) ?? '');
}

/** Where nothing is promised, empty lines at the end belong to nobody. */
function withoutBlankEnd(lines: PatchLines, from: number, { height, has }: Extent): Extent {
  let blank = 0;
  while (blank < height && lines.signAt(from + height - 1 - blank) === '') blank++;
  return { height: height - blank, has: { old: has.old - blank, new: has.new - blank } };
}
