import type { Document } from './document.js';
import { grouped } from './grouped.js';
import { patternOf } from './wanted.js';

/** Lines on which something is found. */
interface Matches {
  /** Ascending. */
  readonly lines: readonly number[];
  /** There may be more of them below. */
  readonly isCut: boolean;
}

const MOST = 1_000;
/** Lines; a longer document is not gone through for a number. */
const LONGEST = 20_000;

/** All matches, or the first of very many; null where nobody counts. Counted once for a document, and for each word anew. */
export function matchesIn(document: Document, wanted: string): Matches | null {
  if (document.length > LONGEST) return null;
  const known = counted.get(document);
  if (known?.wanted === wanted) return known.matches;
  const matches = count(document, patternOf(wanted));
  counted.set(document, { wanted, matches });
  return matches;
}

const counted = new WeakMap<Document, { readonly wanted: string; readonly matches: Matches }>();

function count(document: Document, pattern: RegExp): Matches {
  const lines: number[] = [];
  for (let from = 0; from < document.length; ) {
    const line = document.find(pattern, from, 1);
    if (line === null) break;
    if (lines.length === MOST) return { lines, isCut: true };
    lines.push(line);
    from = line + 1;
  }
  return { lines, isCut: false };
}

/** `2 of 17`, `2 of 1,000+`; null where it is not known which of them a line is. */
export function whichOf(matches: Matches | null, line: number): string | null {
  const index = matches?.lines.indexOf(line) ?? -1;
  return matches && index >= 0 ? `${grouped(index + 1)} of ${countWords(matches)}` : null;
}

/** How many matches these have together, as `17` or `1,000+`; `some` where nobody counts, null where there are none. */
export function countAcross(documents: readonly Document[], wanted: string): string | null {
  const counts = documents.map(document => matchesIn(document, wanted));
  if (!counts.every(each => each !== null))
    return documents.some(each => each.find(patternOf(wanted), 0, 1) !== null) ? 'some' : null;
  const lines = counts.flatMap(each => each.lines);
  return lines.length === 0 ? null : countWords({ lines, isCut: counts.some(({ isCut }) => isCut) });
}

function countWords({ lines, isCut }: Matches): string {
  return `${grouped(lines.length)}${isCut ? '+' : ''}`;
}
