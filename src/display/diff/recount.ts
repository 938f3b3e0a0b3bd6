import { type Counts, writeHunkHeader } from './hunk-header.js';
import type { HunkOutline } from './outline.js';

/** The patch with true counts in every hunk header (TOOL-DIFF; the example of seed 000 has wrong ones). */
export function withTrueCounts(
  patch: string,
  lines: readonly string[],
  hunks: readonly HunkOutline[],
): string {
  const wrong = hunks.filter(isMiscounted);
  if (wrong.length === 0) return patch;
  const corrected = [...lines];
  for (const { at, oldStart, newStart, has } of wrong)
    corrected[at] = writeHunkHeader(oldStart, newStart, has);
  return corrected.join('\n');
}

/** One sentence for every hunk whose header is wrong. */
export function miscounts(hunks: readonly HunkOutline[]): string[] {
  return hunks.flatMap((hunk, index) =>
    isMiscounted(hunk) ? [`hunk ${index + 1}: says ${span(hunk.said)} lines, has ${span(hunk.has)}`] : [],
  );
}

function isMiscounted({ said, has }: HunkOutline): boolean {
  return said.old !== has.old || said.new !== has.new;
}

function span(counts: Counts): string {
  return `−${counts.old} +${counts.new}`;
}
