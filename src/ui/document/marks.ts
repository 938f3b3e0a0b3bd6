import type { Line, Span } from '../../story/line.js';
import { partsOfHalf, withHalves } from '../../story/line-parts.js';
import { searchable } from './own-text.js';

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
