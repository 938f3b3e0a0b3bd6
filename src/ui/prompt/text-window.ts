import { widthOf } from '../../dress/cut-line.js';
import { LazySegmenter } from '../../dress/lazy-segmenter.js';
import type { Line, Span, Tone } from '../../story/line.js';
import { quote, say } from '../../story/spans.js';
import type { Typed } from './step.js';

const CLUSTERS = new LazySegmenter();
const MORE = say('…', 'dim');

/** As much of a text on one line as `width` cells hold, the cursor always among it: a text may be megabytes long. */
export function typedLine({ text, cursor }: Typed, width: number, tone: Tone = 'plain'): Line {
  const before = cells(text.slice(Math.max(0, cursor - 2 * width), cursor), tone);
  const after = cells(text.slice(cursor, cursor + 2 * width), tone);
  const [at = [say(' ')], ...rest] = after;
  const focus = underCursor(at);
  const isWhole = cursor <= 2 * width && widthOf(before.flat()) + widthOf(focus) + 1 <= width;
  const behind = isWhole ? before : lastOf(before, Math.max(0, Math.floor((width * 2) / 3) - 1));
  const start = isWhole ? behind.flat() : [MORE, ...behind.flat()];
  const room = width - widthOf(start) - widthOf(focus);
  return [...start, ...focus, ...firstOf(rest, cursor + 2 * width < text.length, room)];
}

/** A text where nobody types: its start. */
export function quietLine(text: string, width: number, tone: Tone = 'plain'): Line {
  return firstOf(cells(text.slice(0, 2 * width), tone), text.length > 2 * width, width);
}

/** What a person sees as one character each, safe to print. */
function cells(text: string, tone: Tone): readonly Line[] {
  return [...CLUSTERS.segment(text)].map(({ segment }) => quote(segment, tone));
}

function underCursor(cell: Line): Line {
  return cell.map((span): Span => ({ text: span.text, tone: 'cursor' }));
}

function lastOf(all: readonly Line[], width: number): readonly Line[] {
  let left = width;
  const from = all.findLastIndex(cell => {
    left -= widthOf(cell);
    return left < 0;
  });
  return all.slice(from + 1);
}

function firstOf(all: readonly Line[], hasMore: boolean, width: number): Line {
  const whole = all.flat();
  if (!hasMore && widthOf(whole) <= width) return whole;
  let left = width - 1;
  const to = all.findIndex(cell => {
    left -= widthOf(cell);
    return left < 0;
  });
  return width < 1 ? [] : [...all.slice(0, to < 0 ? all.length : to).flat(), MORE];
}
