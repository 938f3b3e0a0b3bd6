import type { Line, Span } from '../story/line.js';
import { cellsOf, clustersOf } from './cells.js';

/** Up to here the library takes words apart itself: the longer one is, the longer it takes for each of its characters. */
const LONGEST = 1_000;
const WORDS = /[^ \n]+/g;
const ASCII = /^[ -~]*$/;

/**
 * A line in pieces that each begin a row: it is cut where the library would break its longest words.
 * @param cellsBefore where a text is wrapped, those before whatever follows it in its last row
 */
export function breakLongWords(
  line: Line,
  width: number,
  cellsBefore: (text: string) => number,
): readonly Line[] {
  const text = line.map(span => span.text).join('');
  return text.length > LONGEST ? cutAt(line, [...breaksIn(text, width, cellsBefore)]) : [line];
}

/** Where in a text a row begins that such a word goes on in. */
function* breaksIn(text: string, width: number, cellsBefore: (text: string) => number): Generator<number> {
  let rowStart = 0;
  for (const { 0: word, index } of text.matchAll(WORDS)) {
    if (word.length <= LONGEST || ASCII.test(word)) continue;
    const before = cellsBefore(text.slice(rowStart, index));
    for (const at of breaksOf(word, width, startOf(word, before, width))) {
      rowStart = index + at;
      if (rowStart > 0) yield rowStart;
    }
  }
}

/** A word begins where the row before it ends, unless it takes fewer rows from the next one on. @returns cells that are taken there */
function startOf(word: string, before: number, width: number): number {
  const cells = cellsOf(word);
  const goingOn = 1 + Math.floor((cells - (width - before) - 1) / width);
  return Math.floor((cells - 1) / width) < goingOn ? width : before;
}

/** Every row is filled, cluster by cluster; what has no width does not go on for ever. @param before cells of the first one that are taken */
function* breaksOf(word: string, width: number, before: number): Generator<number> {
  let [cells, at, rowStart] = [before, 0, 0];
  for (const cluster of clustersOf(word)) {
    const own = cellsOf(cluster);
    const isFull = cells >= width || cells + own > width;
    if ((isFull && cells > 0) || at - rowStart >= LONGEST) {
      yield at;
      [cells, rowStart] = [0, at];
    }
    cells += own;
    at += cluster.length;
  }
}

/** @param places ascending, in the text of all spans */
function cutAt(line: Line, places: readonly number[]): readonly Line[] {
  const pieces: Span[][] = [[]];
  const left = places[Symbol.iterator]();
  let place = left.next();
  let at = 0;
  for (const span of line) {
    const [start, end] = [at, at + span.text.length];
    const takeUpTo = (to: number) => {
      if (to > at) pieces.at(-1)?.push({ ...span, text: span.text.slice(at - start, to - start) });
      at = to;
    };
    for (; !place.done && place.value < end; place = left.next()) {
      takeUpTo(place.value);
      pieces.push([]);
    }
    takeUpTo(end);
  }
  return pieces;
}
