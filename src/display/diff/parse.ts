import { parsePatch as parseWithJsdiff, type StructuredPatch } from 'diff';
import { visibleLine } from '../../text/visible.js';
import { faultOf, missingHunk } from './faults.js';
import { fileOf, type Source } from './file.js';
import { headingsOf } from './headings.js';
import { miscounts } from './miscounts.js';
import type { Diff } from './model.js';
import { type HunkOutline, outlineOf } from './outline.js';
import { PatchLines } from './patch-lines.js';

/** Beyond this nobody reads a patch. */
const MAX_LINES = 500_000;

/** `recounted` has a sentence for every hunk whose header was wrong; `reason` is for the tool's author and safe to print. */
export type Parsed =
  | { readonly ok: true; readonly diff: Diff; readonly recounted: readonly string[] }
  | { readonly ok: false; readonly reason: string };

/**
 * Reads a unified diff, strictly: every line must have its place, or the whole is refused with a reason. Never throws.
 * Only wrong counts in hunk headers are put right (TOOL-DIFF).
 * @param path names the file of a patch that has no `---` and `+++` lines
 */
export function parsePatch(patch: string, path = ''): Parsed {
  const lines = new PatchLines(patch, MAX_LINES);
  if (lines.count > MAX_LINES) return { ok: false, reason: `it has more than ${MAX_LINES} lines` };
  const outline = outlineOf(lines);
  const fault = faultOf(lines, outline);
  if (fault !== undefined) return { ok: false, reason: fault };
  try {
    const files = parseWithJsdiff(headingsOf(lines, outline));
    const missing = missingHunk(files);
    if (missing !== undefined) return { ok: false, reason: missing };
    return {
      ok: true,
      diff: diffOf(files, outline.hunks, { lines, path }),
      recounted: miscounts(outline.hunks),
    };
  } catch (error) {
    return { ok: false, reason: visibleLine(error instanceof Error ? error.message : String(error)) };
  }
}

function diffOf(patches: readonly StructuredPatch[], outlines: readonly HunkOutline[], source: Source): Diff {
  let taken = 0;
  const files = patches.map(patch => {
    const own = outlines.slice(taken, taken + patch.hunks.length);
    taken += own.length;
    return fileOf(patch, own, source);
  });
  const sum = (of: 'added' | 'removed') => files.reduce((total, file) => total + file[of], 0);
  return { files, added: sum('added'), removed: sum('removed') };
}
