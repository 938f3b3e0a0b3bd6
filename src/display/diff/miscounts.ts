import type { Counts } from './hunk-header.js';
import type { HunkOutline } from './outline.js';

/** One sentence for every hunk whose header is wrong (TOOL-DIFF; the example of seed 000 has such a one). */
export function miscounts(hunks: readonly HunkOutline[]): string[] {
  return hunks.flatMap(({ said, has }, index) =>
    said.old === has.old && said.new === has.new
      ? []
      : [`hunk ${index + 1}: says ${span(said)} lines, has ${span(has)}`],
  );
}

function span(counts: Counts): string {
  return `−${counts.old} +${counts.new}`;
}
