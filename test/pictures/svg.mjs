import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/** Pictures are drawn as `render --as svg` draws them, by the same source; no build of the program is needed for that. */
const SOURCE = fileURLToPath(new URL('../../src/render/terminal/svg.ts', import.meta.url));
const { outputFiles } = await build({ entryPoints: [SOURCE], bundle: true, format: 'esm', write: false });
const { svgLines } = await import(
  `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`
);

/** A terminal's rows in a window. */
export function svgOf({ columns, rows }, title) {
  return `${[...svgLines({ columns, height: rows.length, rows, title })].join('\n')}\n`;
}
