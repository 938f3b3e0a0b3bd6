import { cellsOf } from '../cells.js';
import { LazySegmenter } from '../lazy-segmenter.js';
import { type Look, PLAIN, withCodes } from './look.js';

/** Neighbouring cells of one look. */
export interface Run {
  /** Cells before it. */
  readonly column: number;
  readonly text: string;
  /** Cells. */
  readonly width: number;
  readonly look: Look;
}

const SGR = '\u001b[';
/** Of each of these everybody knows that it has one cell. */
const NARROW = /^[ -~]*$/;
const CLUSTERS = new LazySegmenter();

/** A dressed row as runs, blanks that nobody sees left out. Wide characters stand in runs of their own, so that each keeps its cells. */
export function runsOf(row: string): Run[] {
  const runs: Run[] = [];
  let column = 0;
  for (const { text, look } of dressedPieces(row))
    for (const piece of evenPieces(text)) {
      const width = cellsOf(piece);
      runs.push(...seen({ column, text: piece, width, look }));
      column += width;
    }
  return runs;
}

function dressedPieces(row: string): { text: string; look: Look }[] {
  const [first = '', ...rest] = row.split(SGR);
  let look = PLAIN;
  const dressed = rest.map(piece => {
    const end = piece.indexOf('m');
    look = withCodes(look, piece.slice(0, end).split(';').map(Number));
    return { text: piece.slice(end + 1), look };
  });
  return [{ text: first, look: PLAIN }, ...dressed].filter(({ text }) => text !== '');
}

/** Pieces of which each has only wide clusters, or none. */
function evenPieces(text: string): string[] {
  if (NARROW.test(text)) return [text];
  const pieces: { text: string; isWide: boolean }[] = [];
  for (const { segment } of CLUSTERS.segment(text)) {
    const isWide = cellsOf(segment) > 1;
    const last = pieces.at(-1);
    if (last?.isWide === isWide) last.text += segment;
    else pieces.push({ text: segment, isWide });
  }
  return pieces.map(piece => piece.text);
}

/** Blanks at the ends of a run without a background are not drawn: not every viewer keeps their place. */
function seen(run: Run): Run[] {
  const { background, inverse, underline } = run.look;
  if (background !== null || inverse || underline) return [run];
  const text = run.text.trim();
  const before = run.text.length - run.text.trimStart().length;
  const width = run.width - (run.text.length - text.length);
  return text === '' ? [] : [{ ...run, text, column: run.column + before, width }];
}
