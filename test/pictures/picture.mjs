import { capture } from './capture.mjs';
import { svgOf } from './svg.mjs';

/** The pictures of the README: their file, and the call that they show. */
export const PICTURES = [
  { file: 'invoke.svg', words: ['invoke', '--demo'], size: { columns: 120, rows: 40 } },
];

/** Draws one from a real run; its times and ports are that run's, its layout is always the same. */
export async function draw({ words, size }) {
  return svgOf(await capture(words, size), 'protocol-cli');
}
