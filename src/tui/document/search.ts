import type { Highlighter } from '../../display/syntax.js';
import { halvesOf, type Line, partsOfHalf, type Span, withHalves } from '../../render/line.js';
import type { Offsets } from '../../util/bounded.js';

/** Something long that is read on the screen; a line is made only when it is asked for. */
export interface Document {
  /** Lines under this look. */
  readonly length: number;
  /** A line, counted from 0; empty where there is none. */
  line(index: number): Line;
  /** The headers that it stands under (file, hunk), to be repeated at the top where they have scrolled away. */
  headersAt(index: number): readonly Line[];
  /**
   * The nearest line at or beyond `from` in this direction whose own text (not the gutter, not our words) matches; null where
   * there is none.
   * @param wanted without anchors and without the flags `g` and `y`: it is tried on many lines at once; it matches no line feed
   */
  find(wanted: RegExp, from: number, step: 1 | -1): number | null;
  /** The lines where a hunk or a file begins, ascending. */
  landmarks(kind: Landmark): ArrayLike<number>;
  /** Whether lines are left out of it, or would be if it were folded. */
  isFoldable(): boolean;
  /** What stands on a line. */
  anchorAt(line: number): Anchor;
  /** The line where that stands under this look; where it is folded away, the fold. */
  lineAt(anchor: Anchor): number;
}

export type Landmark = 'hunk' | 'file';

/** A place in what is drawn, the same under every look: which part of it, and where in that, which may have parts too. */
export type Anchor = readonly number[];

/** How documents are laid out. */
export interface Look {
  /** Of diffs: old and new beside each other. */
  readonly isSplit: boolean;
  readonly isUnfolded: boolean;
  /** Without one, code is plain. */
  readonly highlighter: Highlighter | null;
}

/** As `5,000`. */
export function grouped(number: number): string {
  return number.toString().replaceAll(/\B(?=(\d{3})+$)/g, ',');
}

const SYNTAX = /[\\^$.*+?()[\]{}|/]/g;

/** Words to look for, as a person typed them: capitals matter only where there are some. */
export function patternOf(wanted: string): RegExp {
  const isExact = wanted !== wanted.toLowerCase();
  return new RegExp(wanted.replaceAll(SYNTAX, String.raw`\$&`), isExact ? 'u' : 'iu');
}

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

/** What a search may find in a body, at the places where it stands there: a hidden character's picture is none of its words. */
function searchable(body: Line): string {
  return body.map(({ text, tone }) => (tone === 'hidden' ? '\n'.repeat(text.length) : text)).join('');
}

/** What a search may find in a line. */
export function ownText(line: Line): string {
  return halvesOf(line)
    .halves.map(half => searchable(partsOfHalf(half).body))
    .join('\n');
}

/** A line in which every match stands out. */
export function marked(line: Line, wanted: RegExp): Line {
  const everywhere = new RegExp(wanted, `${wanted.flags}g`);
  return withHalves(line, half => {
    const { gutter, body } = partsOfHalf(half);
    const matches = searchable(body).matchAll(everywhere);
    const places = Array.from(matches, ({ index, 0: words }) => ({ from: index, to: index + words.length }));
    return places.length === 0 ? half : [...gutter, ...markedBody(body, places)];
  });
}

interface Stretch {
  readonly from: number;
  readonly to: number;
}

function markedBody(body: Line, places: readonly Stretch[]): Line {
  let start = 0;
  return body.flatMap(span => {
    const own = places.map(({ from, to }) => ({ from: from - start, to: to - start }));
    start += span.text.length;
    return [...pieces(span, own)];
  });
}

function* pieces(span: Span, places: readonly Stretch[]): Generator<Span> {
  const { text } = span;
  let at = 0;
  for (const { from, to } of places) {
    if (to <= at || from >= text.length) continue;
    if (from > at) yield { ...span, text: text.slice(at, from) };
    yield { ...span, text: text.slice(Math.max(at, from), to), tone: 'match' };
    at = Math.min(to, text.length);
  }
  if (at < text.length || text === '') yield { ...span, text: text.slice(at) };
}

type Places = Pick<Offsets, 'locate' | 'lengthOf'> & { readonly starts: ArrayLike<number> };

/**
 * Looks through parts one after the other, from a line of the whole on.
 * @param findIn looks through one of them, from one of its own lines on
 */
export function findAcross(
  { starts, locate, lengthOf }: Places,
  from: number,
  step: 1 | -1,
  findIn: (which: number, at: number) => number | null,
): number | null {
  let { which, at } = locate(from);
  while (which >= 0 && which < starts.length) {
    const found = findIn(which, at);
    if (found !== null) return (starts[which] ?? 0) + found;
    which += step;
    at = step > 0 ? 0 : lengthOf(which) - 1;
  }
  return null;
}
