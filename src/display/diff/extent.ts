import type { Counts } from './hunk-header.js';

/** What a hunk's body really is, whatever its header says. */
export interface Extent {
  /** Lines of the patch, `\ No newline at end of file` included. */
  readonly height: number;
  readonly has: Counts;
}

const ANY: Counts = { old: Number.POSITIVE_INFINITY, new: Number.POSITIVE_INFINITY };

/** Takes the header's word where the lines bear it out, else everything that looks like the hunk's body. */
export function measure(lines: readonly string[], from: number, said: Counts): Extent {
  const promised = walk(lines, from, said);
  const kept = promised.has.old === said.old && promised.has.new === said.new;
  if (kept && !goesOn(lines, from + promised.height)) return promised;
  return withoutBlankEnd(lines, from, walk(lines, from, ANY));
}

function walk(lines: readonly string[], from: number, limit: Counts): Extent {
  const has = { old: 0, new: 0 };
  let at = from;
  for (; has.old < limit.old || has.new < limit.new; at++) {
    if (!isRow(lines, at) && !isStrippedContext(lines, at) && !isRemark(lines, at, from)) break;
    const sign = lines[at]?.[0];
    if (sign !== '+' && sign !== '\\') has.old++;
    if (sign !== '-' && sign !== '\\') has.new++;
  }
  while (isRemark(lines, at, from)) at++;
  return { height: at - from, has };
}

function goesOn(lines: readonly string[], from: number): boolean {
  let at = from;
  while (lines[at] === '') at++;
  return isRow(lines, at);
}

/** Ends at the next file and at a mail's signature, whose first characters would pass for removed lines. */
function isRow(lines: readonly string[], at: number): boolean {
  return /^[ +-]/.test(lines[at] ?? '') && !startsFile(lines, at) && !startsSignature(lines, at);
}

/** `\ No newline at end of file`, in whatever language: about the row before it, so never a hunk's first line. */
function isRemark(lines: readonly string[], at: number, from: number): boolean {
  return at > from && startsWith(lines, at, '\\ ');
}

/** Editors strip the one space that an empty context line consists of. */
function isStrippedContext(lines: readonly string[], at: number): boolean {
  return lines[at] === '' && at < lines.length - 1;
}

function startsFile(lines: readonly string[], at: number): boolean {
  return (
    startsWith(lines, at, '--- ') && startsWith(lines, at + 1, '+++ ') && startsWith(lines, at + 2, '@@ ')
  );
}

function startsSignature(lines: readonly string[], at: number): boolean {
  return lines[at] === '-- ' && /^\d/.test(lines[at + 1] ?? '');
}

function startsWith(lines: readonly string[], at: number, start: string): boolean {
  return lines[at]?.startsWith(start) ?? false;
}

/** Where nothing is promised, empty lines at the end belong to nobody. */
function withoutBlankEnd(lines: readonly string[], from: number, { height, has }: Extent): Extent {
  let blank = 0;
  while (blank < height && lines[from + height - 1 - blank] === '') blank++;
  return { height: height - blank, has: { old: has.old - blank, new: has.new - blank } };
}
