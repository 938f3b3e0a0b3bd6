import { fileURLToPath } from 'node:url';
import { rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';

process.chdir(fileURLToPath(new URL('../', import.meta.url)));

/** The types of the library in one file. */
const library = await rollup({
  input: 'src/index.ts',
  plugins: [dts({ tsconfig: 'tsconfig.json' })],
  external: /^[^./]/, // packages
});
await library.write({ file: 'dist/index.d.ts' });
