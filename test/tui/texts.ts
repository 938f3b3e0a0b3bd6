import { parsePatch } from '../../src/segments/diff.js';

export const PLAIN = { isSplit: false, isUnfolded: false, highlighter: null };

export function diffOf(patch: string) {
  const result = parsePatch(patch);
  if (!result.ok) throw new Error(result.reason);
  return result.diff;
}

/** `line 1`, `line 2`, … */
export function numbered(count: number): string {
  return Array.from({ length: count }, (_, index) => `line ${index + 1}`).join('\n');
}
