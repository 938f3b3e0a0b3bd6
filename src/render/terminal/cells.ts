import measured from 'string-width';
import { memoizeByString } from '../../util/collections.js';
import { LazySegmenter, NARROW, WIDE } from './lazy-segmenter.js';

const PLAIN = new RegExp(`^[${NARROW}${WIDE}]*$`);

const EACH_WIDE = new RegExp(`[${WIDE}]`, 'g');

const OTHER = new RegExp(`[^${NARROW}${WIDE}]`, 'g');

const TWO_PLAIN = new RegExp(`[${NARROW}${WIDE}]{2}`, 'g');

const [ESC, CSI] = ['\u001B', '\u009B'];

const COLOURS = new RegExp(`${ESC}\\[[\\d;]*m`, 'g');

const SEGMENTER = new LazySegmenter();

const clustersIn = (text: string) => Array.from(SEGMENTER.segment(text), ({ segment }) => segment);

/** Caches the clusters of a text: an emoji between two blanks is segmented and measured once. */
const rememberedClusters = memoizeByString(clustersIn);

const cellsOfCluster = memoizeByString(cluster => measured(cluster));

const cellsOfPiece = memoizeByString(piece =>
  rememberedClusters(piece).reduce((cells, cluster) => cells + cellsOfCluster(cluster), 0),
);

/**
 * The width of a text in a terminal, in cells, without colours. string-width compiles its Unicode patterns for longer than a first frame
 * takes; few texts need them, and those repeat the same clusters.
 */
export function cellsOf(text: string): number {
  const seen = text.includes(ESC) ? text.replace(COLOURS, '') : text;
  if (PLAIN.test(seen)) return cellsOfPlain(seen);
  if (seen.includes(ESC) || seen.includes(CSI)) return measured(text); // other escape sequences
  if (seen.length <= 2) return cellsOfCluster(seen);
  let cells = 0;
  for (const { piece, isPlain } of stretchesOf(seen))
    cells += isPlain ? cellsOfPlain(piece) : cellsOfPiece(piece);
  return cells;
}

/** U+20E3 has no width alone, but makes a digit before it wide. */
const KEYCAP = '\u20E3';

/** The width of a single character, in cells; a cluster is never wider than the sum of its characters. */
export function widthOfCharacter(character: string): number {
  return character === KEYCAP ? 1 : cellsOf(character);
}

function cellsOfPlain(text: string): number {
  return text.length + (text.match(EACH_WIDE)?.length ?? 0);
}

export function* clustersOf(text: string): Generator<string> {
  for (const { piece, isPlain } of stretchesOf(text)) yield* isPlain ? piece : rememberedClusters(piece);
}

/** Splits a text into plain stretches, whose characters are one cluster each, and stretches that need the segmenter. */
function* stretchesOf(text: string): Generator<{ readonly piece: string; readonly isPlain: boolean }> {
  for (let from = 0; from < text.length; ) {
    const other = indexOf(OTHER, text, from);
    // The plain character before may belong to the first cluster.
    const start = other === text.length ? other : Math.max(from, other - 1);
    if (start > from) yield { piece: text.slice(from, start), isPlain: true };
    if (start === text.length) return;
    from = Math.min(text.length, indexOf(TWO_PLAIN, text, other) + 1);
    yield { piece: text.slice(start, from), isPlain: false };
  }
}

/** The index of a global pattern's next match; the length of the text without one. */
function indexOf(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  return pattern.exec(text)?.index ?? text.length;
}
