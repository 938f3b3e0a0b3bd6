import { widthOf } from '../../dress/cut-line.js';
import { wrapLine } from '../../dress/dress.js';
import { slideTo } from '../../dress/slide-line.js';
import type { Line } from '../../story/line.js';
import { halvesOf, partsOfHalf, withHalves } from '../../story/line-parts.js';
import { marked } from './marks.js';
import type { Reading } from './reading.js';
import type { Scene } from './rows.js';
import { patternOf } from './wanted.js';

/** The first match of a line: in which of its rows it ends, where it is wrapped; how far to the right one must scroll, where not. */
export function matchIn(
  line: Line,
  { wanted, isWrapped, left }: Reading,
  { viewport, theme }: Scene,
): { readonly row: number; readonly left: number } {
  const drawn = marked(line, patternOf(wanted ?? ''));
  const { halves } = halvesOf(drawn);
  const half = halves.findIndex(spans => spans.some(isMatch));
  if (half < 0) return { row: 0, left };
  if (isWrapped) return { row: wrapLine(upToMatch(drawn, half), viewport.width, theme).length - 1, left };
  const { body } = partsOfHalf(halves[half] ?? []);
  const [from, to] = [widthOf(before(body)), widthOf(through(body))];
  return { row: 0, left: slideTo(drawn, half, { from, to }, left, viewport.width) };
}

function upToMatch(line: Line, half: number): Line {
  return withHalves(line, (spans, index) => (index === half ? through(spans) : []));
}

function before(spans: Line): Line {
  return spans.slice(0, spans.findIndex(isMatch));
}

/** A match that goes over several spans ends with the last of them that follow each other. */
function through(spans: Line): Line {
  const start = spans.findIndex(isMatch);
  const rest = spans.slice(start).findIndex(span => !isMatch(span));
  return rest < 0 ? spans : spans.slice(0, start + rest);
}

function isMatch({ tone }: Line[number]): boolean {
  return tone === 'match';
}
