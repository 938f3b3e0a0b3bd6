/** How many lines of the old and of the new file a hunk spans. */
export interface Counts {
  readonly old: number;
  readonly new: number;
}

export interface HunkHeader {
  readonly oldStart: number;
  readonly newStart: number;
  readonly said: Counts;
  readonly section: string;
}

const HEADER = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(.*)$/s;

/** Reads `@@ -1,3 +1,4 @@ section`; undefined for anything else, and for numbers no file can have. */
export function readHunkHeader(line: string): HunkHeader | undefined {
  const match = HEADER.exec(line);
  if (!match) return undefined;
  const [, oldStart, oldCount = '1', newStart, newCount = '1', section = ''] = match;
  const header = {
    oldStart: Number(oldStart),
    newStart: Number(newStart),
    said: { old: Number(oldCount), new: Number(newCount) },
    section: section.trim(),
  };
  const numbers = [header.oldStart, header.newStart, header.said.old, header.said.new];
  return numbers.every(Number.isSafeInteger) ? header : undefined;
}
