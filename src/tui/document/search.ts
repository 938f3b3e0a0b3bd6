import { type Line, partsOfHalf, type Span, withHalves } from '../../render/line.js';
import { type Document, searchable } from './documents.js';

/** As `5,000`. */
export function grouped(number: number): string {
  return number.toString().replaceAll(/\B(?=(\d{3})+$)/g, ',');
}

const SYNTAX = /[\\^$.*+?()[\]{}|/]/g;

/** The pattern of words that a person typed: capitals matter only where there are some. */
export function patternOf(wanted: string): RegExp {
  const isExact = wanted !== wanted.toLowerCase();
  return new RegExp(wanted.replaceAll(SYNTAX, String.raw`\$&`), isExact ? 'u' : 'iu');
}

/** Lines that match, ascending. */
interface Matches {
  readonly lines: readonly number[];
  /** There may be more below. */
  readonly isCut: boolean;
}

const MOST_MATCHES = 1_000;
/** Matches of a longer document are not counted. */
const MOST_LINES = 20_000;

const counted = new WeakMap<Document, { readonly wanted: string; readonly matches: Matches }>();

/** `2 of 17`, `2 of 1,000+`; null where the matches are not counted. A document is counted once for each word. */
export function placeOfMatch(document: Document, wanted: string, line: number): string | null {
  if (document.length > MOST_LINES) return null;
  const known = counted.get(document);
  const matches = known?.wanted === wanted ? known.matches : matchesIn(document, patternOf(wanted));
  counted.set(document, { wanted, matches });
  const index = matches.lines.indexOf(line);
  const count = `${grouped(matches.lines.length)}${matches.isCut ? '+' : ''}`;
  return index < 0 ? null : `${grouped(index + 1)} of ${count}`;
}

function matchesIn(document: Document, pattern: RegExp): Matches {
  const lines: number[] = [];
  for (let from = 0; from < document.length; ) {
    const line = document.find(pattern, from, 1);
    if (line === null) break;
    if (lines.length === MOST_MATCHES) return { lines, isCut: true };
    lines.push(line);
    from = line + 1;
  }
  return { lines, isCut: false };
}

/** A line in which every match is highlighted. */
export function marked(line: Line, wanted: RegExp): Line {
  const everywhere = new RegExp(wanted, `${wanted.flags}g`);
  return withHalves(line, half => {
    const { gutter, body } = partsOfHalf(half);
    const matches = [...searchable(body).matchAll(everywhere)];
    return [...gutter, ...markedBody(body, matches)];
  });
}

function markedBody(body: Line, matches: readonly RegExpExecArray[]): Line {
  let start = 0;
  return body.flatMap(span => {
    const own = matches.map(({ index, 0: words }) => ({
      from: index - start,
      to: index - start + words.length,
    }));
    start += span.text.length;
    return [...piecesOf(span, own)];
  });
}

function* piecesOf(
  span: Span,
  matches: readonly { readonly from: number; readonly to: number }[],
): Generator<Span> {
  const { text } = span;
  let at = 0;
  for (const { from, to } of matches) {
    if (to <= at || from >= text.length) continue;
    if (from > at) yield { ...span, text: text.slice(at, from) };
    yield { ...span, text: text.slice(Math.max(at, from), to), tone: 'match' };
    at = Math.min(to, text.length);
  }
  if (at < text.length || text === '') yield { ...span, text: text.slice(at) };
}
