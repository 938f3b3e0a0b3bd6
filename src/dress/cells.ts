import measured from 'string-width';
import { remembering } from '../text/remembering.js';

/** Each of these is a cluster by itself, of one cell: what our own drawings and most languages are made of. */
const NARROW =
  ' -~\u00A1-\u00AC\u00AE-\u02FF\u0384-\u0482\u048A-\u052F\u2010-\u2027\u2030-\u205E\u20A0-\u20C0\u2100-\u2319\u232B-\u23E8\u2400-\u2426\u2500-\u25FC\u2706-\u2709\u270E-\u2727\u2800-\u28FF';
/** The same of two cells. */
const WIDE = '\u3001-\u3029\u3041-\u3096\u30A1-\u30FA\u4E00-\u9FFF\uAC00-\uD7A3\uFF01-\uFF60';
const PLAIN = new RegExp(`^[${NARROW}${WIDE}]*$`);
const EACH_WIDE = new RegExp(`[${WIDE}]`, 'g');
const [ESC, CSI] = ['\u001B', '\u009B'];
const COLOURS = new RegExp(`${ESC}\\[[\\d;]*m`, 'g');

const CLUSTERS = new Intl.Segmenter();
/** Of whole characters. */
const SLICES = /.{1,1000}/gsu;
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

/** Node's segmenter takes ever longer the longer a text is, and what is longer than a slice is wider than any row, cut wherever. */
function byClusters(text: string): number {
  let cells = 0;
  for (const slice of text.match(SLICES) ?? [])
    for (const { segment } of CLUSTERS.segment(slice)) cells += cellsOfCluster(segment);
  return cells;
}
