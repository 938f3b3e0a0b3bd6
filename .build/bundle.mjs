import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { gather } from './gather.mjs';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const [WIDTHS, CELLS] = ['./string-width.mjs', '../src/render/terminal/cells.ts'].map(path =>
  fileURLToPath(new URL(path, import.meta.url)),
);
const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8'));

/** Bundled CommonJS (commander, ajv) asks for Node's modules with `require`. */
const REQUIRE =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

const SHARED = {
  absWorkingDir: ROOT,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  define: {
    'process.env.NODE_ENV': '"production"',
    'process.env.DEV': '"false"',
    PROGRAM_VERSION: JSON.stringify(version),
    'Intl.Segmenter': 'LazySegmenter',
  },
  inject: ['src/render/terminal/lazy-segmenter.ts'],
  alias: {
    // Ink asks for it in a development mode that does not exist here.
    'react-devtools-core': './.build/empty.mjs',
  },
  metafile: true,
  write: false,
  logLevel: 'warning',
};

/** Ink measures as we do: the library's patterns take longer to compile than a first frame, and hardly a text needs them. */
const OUR_WIDTHS = {
  name: 'our-widths',
  setup({ onResolve }) {
    onResolve({ filter: /^string-width$/ }, ({ importer }) =>
      [WIDTHS, CELLS].includes(importer) ? undefined : { path: WIDTHS },
    );
  },
};

/**
 * The program, everything inside; and the library, which leaves zod to its user since the public types speak of it.
 * Both flat, so that one module knows where the package's root is.
 */
export async function bundle(outdir) {
  const cli = {
    ...SHARED,
    entryPoints: ['src/cli.ts'],
    outdir,
    // Yoga would fetch() its own data: URL, which loads Node's undici: 20 ms of the first frame.
    define: { ...SHARED.define, fetch: 'undefined' },
    minifySyntax: true,
    minifyWhitespace: true,
  };
  const program = await build({ ...cli, plugins: [OUR_WIDTHS, await gather(cli)] });
  const library = await build({
    ...SHARED,
    plugins: [OUR_WIDTHS],
    entryPoints: ['src/index.ts'],
    outdir,
    external: ['zod'],
    chunkNames: 'lib-[name]-[hash]',
  });
  await Promise.all([...program.outputFiles, ...library.outputFiles].map(write));
  return [...Object.keys(program.metafile.inputs), ...Object.keys(library.metafile.inputs)];
}

/** Only esbuild's own stand-in for `require` needs the real one; in every chunk it would be paid for thirty times. */
async function write({ path, text }) {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, /typeof require\b/.test(text) ? `${REQUIRE}\n${text}` : text);
}
