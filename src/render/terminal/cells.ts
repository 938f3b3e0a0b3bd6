import measured from 'string-width';
import { remembering } from '../../util/remembering.js';
import { LazySegmenter } from './lazy-segmenter.js';
import { NARROW, WIDE } from './plain.js';

const PLAIN = new RegExp(`^[${NARROW}${WIDE}]*$`);
const EACH_WIDE = new RegExp(`[${WIDE}]`, 'g');
const [ESC, CSI] = ['\u001B', '\u009B'];
const COLOURS = new RegExp(`${ESC}\\[[\\d;]*m`, 'g');

/** Letters of ASCII between others: each has one cell, and no part in a longer cluster. */
const AMONG_LETTERS = /(?<=[ -~])[ -~]+(?=[ -~])/g;

const CLUSTERS = new LazySegmenter();
/** Of a cluster, or of one character. */
const cellsOfCluster = remembering(cluster => measured(cluster));

/**
 * Cells of a text in a terminal, colours not counted. The library knows all of Unicode, by patterns that take longer to compile than a
 * first frame; hardly a text needs them, and what needs them needs the same again and again.
 */
export function cellsOf(text: string): number {
  const seen = text.includes(ESC) ? text.replace(COLOURS, '') : text;
  if (PLAIN.test(seen)) return seen.length + (seen.match(EACH_WIDE)?.length ?? 0);
  if (seen.includes(ESC) || seen.includes(CSI)) return measured(text); // what else acts on a terminal
  return seen.length <= 2 ? cellsOfCluster(seen) : byClusters(seen);
}

function byClusters(text: string): number {
  const rest = text.replace(AMONG_LETTERS, '');
  let cells = text.length - rest.length;
  for (const cluster of clustersOf(rest)) cells += cellsOfCluster(cluster);
  return cells;
}

/** What a person sees as one character each. */
export function* clustersOf(text: string): Generator<string> {
  for (const { segment } of CLUSTERS.segment(text)) yield segment;
}
