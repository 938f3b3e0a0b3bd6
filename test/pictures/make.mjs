import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { draw, PICTURES } from './picture.mjs';

const HERE = fileURLToPath(new URL('.', import.meta.url));

/** Draws the pictures anew, each from a real run. `--png <folder>`: as PNG too, for looking. */
const { values } = parseArgs({ options: { png: { type: 'string' } } });

for (const picture of PICTURES) {
  const { file } = picture;
  const svg = await draw(picture);
  await writeFile(join(HERE, file), svg);
  if (values.png !== undefined) await writePng(values.png, file.replace('.svg', '.png'), svg);
}

async function writePng(folder, file, svg) {
  const { Resvg } = await import('@resvg/resvg-js');
  const font = {
    loadSystemFonts: true,
    monospaceFamily: 'DejaVu Sans Mono',
    defaultFontFamily: 'DejaVu Sans Mono',
  };
  await mkdir(folder, { recursive: true });
  await writeFile(
    join(folder, file),
    new Resvg(svg, { font, fitTo: { mode: 'zoom', value: 1.5 } }).render().asPng(),
  );
}
