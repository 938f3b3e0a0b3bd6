import type { Outline } from './outline.js';
import type { PatchLines } from './patch-lines.js';

/** A hunk of one row: what is in a hunk is known already. */
const STAND_IN = '@@ -1 +1 @@\n ';

/**
 * The patch without what its hunks say: enough to read of which files it is and how many hunks each has,
 * however long it is.
 */
export function headingsOf(lines: PatchLines, { hunks, outside }: Outline): string {
  const headings: string[] = [];
  let next = 0;
  for (const at of outside) {
    for (; (hunks[next]?.at ?? lines.count) < at; next++) headings.push(STAND_IN);
    headings.push(lines.at(at) ?? '');
  }
  for (; next < hunks.length; next++) headings.push(STAND_IN);
  return headings.join('\n');
}
