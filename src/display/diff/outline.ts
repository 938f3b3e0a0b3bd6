import { type Extent, measure } from './extent.js';
import { type HunkHeader, readHunkHeader } from './hunk-header.js';
import type { PatchLines } from './patch-lines.js';

export interface HunkOutline extends HunkHeader, Extent {
  /** Index of its `@@` line. */
  readonly at: number;
}

/** Every line of a patch, accounted for: it is of a hunk or it is not. */
export interface Outline {
  readonly hunks: readonly HunkOutline[];
  /** Indexes of the lines outside of all hunks. */
  readonly outside: readonly number[];
}

/** Finds the hunks of a patch and their true extent. */
export function outlineOf(lines: PatchLines): Outline {
  const hunks: HunkOutline[] = [];
  const outside: number[] = [];
  for (let at = 0; at < lines.count; at++) {
    const header = readHunkHeader(lines.at(at) ?? '');
    if (header) {
      const hunk = { at, ...header, ...measure(lines, at + 1, header.said) };
      hunks.push(hunk);
      at += hunk.height;
    } else outside.push(at);
  }
  return { hunks, outside };
}
