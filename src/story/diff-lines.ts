import type { Diff } from '../display/diff/model.js';
import type { DiffLook } from './diff-look.js';
import { type Part, partsOf } from './diff-parts.js';
import type { Line } from './line.js';
import type { Layout, Window } from './window.js';

/** From here on there is room for old and new beside each other. */
const WIDE = 120;

/**
 * A diff as lines: a header per file, a header per hunk, rows with line numbers and a sign. Only the lines asked for are built.
 * A window that begins below a header begins with that header once more.
 */
export function diffLines(diff: Diff, { from = 0, count, ...layout }: Layout): Window {
  const lines: Line[] = [];
  let total = 0;
  let sticky: number | undefined;
  for (const part of partsOf(diff, lookOf(layout))) {
    const start = Math.max(from - total, 0);
    if (start < part.height) sticky ??= repeatHeaders(part, count, lines);
    const end = Math.min(from + count - (sticky ?? 0) - total, part.height);
    for (let at = start; at < end; at++) lines.push(part.line(at));
    total += part.height;
  }
  return { lines, sticky: sticky ?? 0, total };
}

/** All lines of a diff, each made as it is asked for. */
export function* wholeDiff(diff: Diff, layout: Omit<Layout, 'from' | 'count'>): Generator<Line> {
  for (const part of partsOf(diff, lookOf(layout)))
    for (let at = 0; at < part.height; at++) yield part.line(at);
}

function lookOf({
  width = 0,
  isUnfolded = false,
  highlighter = null,
}: Omit<Layout, 'from' | 'count'>): DiffLook {
  return { isSplit: width >= WIDE, isUnfolded, highlighter };
}

/** As many as there were. A window that is too low for them and what they are about does without. */
function repeatHeaders({ under }: Part, count: number, lines: Line[]): number {
  if (under.length >= count) return 0;
  for (const header of under) lines.push(header());
  return under.length;
}
