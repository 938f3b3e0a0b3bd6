import { type Line, partsOfHalf, withHalves } from '../../render/line.js';
import { type Document, searchable } from './document.js';

const SYNTAX = /[\\^$.*+?()[\]{}|/]/g;

/** The pattern of a search for a text: case-sensitive if it has a capital letter. */
export function patternOf(words: string): RegExp {
  const isExact = words !== words.toLowerCase();
  return new RegExp(words.replaceAll(SYNTAX, String.raw`\$&`), isExact ? 'u' : 'iu');
}

/** Gives matches the tone `match`. */
export function markMatches(line: Line, words: string): Line {
  const pattern = patternOf(words);
  const everywhere = new RegExp(pattern, `${pattern.flags}g`);
  return withHalves(line, half => {
    const { gutter, body } = partsOfHalf(half);
    // The start and the end of each match, alternating.
    const cuts = [...searchable(body).matchAll(everywhere)].flatMap(({ index, 0: found }) => [
      index,
      index + found.length,
    ]);
    let start = 0;
    const marked = body.flatMap(span => {
      const begin = start;
      start += span.text.length;
      const edges = [begin, ...cuts.filter(cut => cut > begin && cut < start), start];
      return edges.slice(1).map((to, index) => {
        const from = edges[index] ?? begin;
        const isInMatch = cuts.filter(cut => cut <= from).length % 2 === 1;
        const tone = isInMatch ? ('match' as const) : span.tone;
        return { ...span, text: span.text.slice(from - begin, to - begin), tone };
      });
    });
    return [...gutter, ...marked];
  });
}

export function isMatch({ tone }: Line[number]): boolean {
  return tone === 'match';
}

/** Maximum number of lines and matches for which matches are counted. */
const MAX_LINES = 20_000;
const MAX_MATCHES = 1_000;

/** The number of the match on a line, and the number of all lines with matches; null if there are too many to count. */
export function matchPlace(
  document: Document,
  words: string,
  line: number,
): { readonly nth: number; readonly of: number } | null {
  if (document.length > MAX_LINES) return null;
  const pattern = patternOf(words);
  const lines: number[] = [];
  for (let from = 0; from < document.length; ) {
    const found = document.find(pattern, from, 1);
    if (found === null) break;
    if (lines.push(found) > MAX_MATCHES) return null;
    from = found + 1;
  }
  return { nth: lines.indexOf(line) + 1, of: lines.length };
}
