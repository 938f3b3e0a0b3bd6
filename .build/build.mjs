import { chmod, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { extname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import standaloneCode from 'ajv/dist/standalone/index.js';
import { build } from 'esbuild';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
process.chdir(ROOT);
const { version, dependencies } = JSON.parse(await readFile('package.json', 'utf8'));

const [WIDTHS, CELLS] = ['.build/string-width.mjs', 'src/render/terminal/cells.ts'].map(path =>
  resolve(path),
);
/** The patterns of string-width compile slowly, and most text does not need them: without this, a first frame takes 9 % longer. */
const ownWidths = {
  name: 'own-widths',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^string-width$/ }, ({ importer }) =>
      [WIDTHS, CELLS].includes(importer) ? undefined : { path: WIDTHS },
    ),
};

/** With DEV=true, Ink would import its devtools, and these would run a package of the user's folder (threats, row 29). */
const noDevtools = {
  name: 'no-devtools',
  setup: ({ onResolve }) =>
    onResolve({ filter: /^\.\/devtools\.js$/ }, ({ importer }) =>
      importer.includes('/node_modules/ink/') ? { path: 'data:text/javascript,', external: true } : undefined,
    ),
};

/** Bundled in the library too, since Node 20 and 22 warn about imported JSON. */
const DRAFT_06 = 'ajv/dist/refs/json-schema-draft-06.json';

const PLUGINS = [ownWidths, noDevtools];

const SHARED = {
  absWorkingDir: ROOT,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  define: { PROGRAM_VERSION: JSON.stringify(version) },
  metafile: true,
  logLevel: 'warning',
};

/** What a start has loaded by the time that a dynamic import happens. */
const LOADED_EARLIER = {
  'src/cli.ts': () => true,
  'src/commands/options.ts': () => true,
  'src/commands/invoke/run.ts': path => !/^src\/commands\/[^/]+\/command\.ts$/.test(path),
};

/**
 * Makes fewer and larger chunks. esbuild writes one chunk for each set of modules with the same entries, and every `import()` is an
 * entry: a start would load fifty files. If each later entry imports what was loaded earlier, all of that has the same users.
 */
const fewerChunks = entries => ({
  name: 'fewer-chunks',
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.[jt]sx?$/ }, async ({ path: file }) => {
      const path = relative(ROOT, file).replaceAll('\\', '/');
      if (path === 'src/cli.ts' || !entries.has(path)) return;
      const imports = Object.entries(LOADED_EARLIER)
        .filter(([earlier, isBefore]) => earlier !== path && isBefore(path))
        .map(([earlier]) => `import ${JSON.stringify(resolve(earlier))};`);
      return {
        contents: [await readFile(file, 'utf8'), ...imports].join('\n'),
        loader: extname(file).slice(1),
      };
    }),
});

/** Builds beside `dist` and swaps at the end, so that a running program finds either build whole. */
await writeMetaSchema('src/json-schema/generated');
const draft = await mkdtemp('dist-');
await chmod(draft, 0o755);
try {
  const bundles = [await bundleProgram(), await bundleLibrary()];
  await writeNotices(bundles.flatMap(({ metafile }) => Object.keys(metafile.inputs)));
  await rm('dist', { recursive: true, force: true });
  await rename(draft, 'dist');
} finally {
  await rm(draft, { recursive: true, force: true });
}

async function bundleProgram() {
  const options = {
    ...SHARED,
    entryPoints: ['src/cli.ts'],
    outdir: draft,
    inject: ['src/render/terminal/lazy-segmenter.ts'],
    define: {
      ...SHARED.define,
      'process.env.NODE_ENV': '"production"',
      'Intl.Segmenter': 'LazySegmenter', // libraries create one on load: without this, a first frame takes 6 % longer
      // Yoga would fetch() its own data: URL, which loads Node's undici: without this, a first frame takes 11 % longer.
      fetch: 'undefined',
    },
    // Bundled CommonJS (commander, ajv) needs `require` for Node's modules.
    banner: {
      js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
    },
    minifySyntax: true,
    minifyWhitespace: true,
  };
  const { metafile } = await build({ ...options, plugins: PLUGINS, write: false });
  const entries = new Set(Object.values(metafile.outputs).flatMap(({ entryPoint = [] }) => entryPoint));
  return build({ ...options, plugins: [...PLUGINS, fewerChunks(entries)] });
}

/** Its packages stay outside, so that users can update them, and since the public types use the caller's zod. */
function bundleLibrary() {
  return build({
    ...SHARED,
    entryPoints: ['src/index.ts'],
    outdir: draft,
    external: Object.keys(dependencies),
    alias: { [DRAFT_06]: `./node_modules/${DRAFT_06}` },
    chunkNames: 'lib-[name]-[hash]',
  });
}

/** Validates schemas against draft 2020-12 as plain code: compiling the meta-schema at run time costs 24 ms. */
async function writeMetaSchema(folder) {
  const ajv = new Ajv2020({ allErrors: true, validateFormats: false, code: { source: true, esm: true } });
  const contents = standaloneCode.default(ajv, ajv.getSchema('https://json-schema.org/draft/2020-12/schema'));
  const stdin = { contents, resolveDir: ROOT, loader: 'js' };
  await build({
    stdin,
    bundle: true,
    format: 'esm',
    platform: 'node',
    outfile: join(folder, 'meta-2020-12.js'),
  });
  const types = 'export const validate: { (data: unknown): boolean; errors?: ErrorObject[] | null };\n';
  await writeFile(join(folder, 'meta-2020-12.d.ts'), `import type { ErrorObject } from 'ajv';\n${types}`);
}

/** The licences of the bundled packages. */
async function writeNotices(inputs) {
  const packages = new Set(
    inputs.flatMap(path => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[0] ?? []),
  );
  const notices = await Promise.all(
    [...packages].sort().map(async folder => {
      const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
      const file = (await readdir(folder)).find(entry => /^licen[cs]e/i.test(entry));
      return `${name} ${version} (${license})\n\n${file ? await readFile(join(folder, file), 'utf8') : ''}`;
    }),
  );
  await writeFile(join(draft, 'THIRD-PARTY-NOTICES.txt'), notices.join(`\n${'-'.repeat(72)}\n\n`));
}
