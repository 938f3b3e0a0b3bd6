import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './longest-first.js';

const [WIDTHS, SEGMENTER] = ['../.build/string-width.mjs', '../src/render/terminal/lazy-segmenter.ts'].map(
  path => fileURLToPath(new URL(path, import.meta.url)),
);

/** Ink measures and cuts as in the build: with the library's patterns and Node's segmenter, to draw a frame takes thrice as long. */
const asBuilt = {
  name: 'as-built',
  enforce: 'pre',
  resolveId: (id: string, importer = '') =>
    id === 'string-width' && importer.includes('/node_modules/') ? WIDTHS : undefined,
  load: (id: string) => (id.includes('/node_modules/ink/') ? readFile(id, 'utf8') : undefined), // its source maps lead nowhere
  transform: (code: string, id: string) =>
    id.includes('/node_modules/') && code.includes('new Intl.Segmenter')
      ? `import { LazySegmenter } from '${SEGMENTER}';\n${code.replaceAll('Intl.Segmenter', 'LazySegmenter')}`
      : undefined,
} as const;

export default defineConfig({
  root: fileURLToPath(new URL('../', import.meta.url)),
  plugins: [asBuilt],
  oxc: { jsx: { runtime: 'automatic', development: false } },
  test: {
    include: ['test/**/*.test.{ts,tsx}'],
    globalSetup: ['test/build-once.ts'],
    sequence: { sequencer: LongestFirst },
    maxWorkers: 6, // on two cores: two thirds of the time of a test are waiting
    execArgv: ['--max-semi-space-size=32'], // what lives shortly is collected less often
    isolate: false, // no test changes what another one sees; to load everything anew for each file would take longer than the tests
    // Anyone who waits goes on as soon as there is what is waited for: to be patient with a busy machine costs nothing.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 120_000 } },
    server: {
      deps: {
        inline: ['ink', 'widest-line', 'cli-truncate', 'wrap-ansi', 'slice-ansi', '@alcalzone/ansi-tokenize'],
      },
    },
    experimental: { fsModuleCache: true, fsModuleCachePath: 'node_modules/.cache/vitest' }, // what did not change is not compiled again
    // Ink, which is loaded once per worker, draws only its last frame where CI is set.
    env: {
      NODE_ENV: 'production', // React as in the build: its development build takes twice as long
      FORCE_COLOR: '0',
      TERM: 'xterm-256color',
      npm_lifecycle_event: '', // the tests may be started with npx, which messages then name
      CI: 'false',
      CONTINUOUS_INTEGRATION: 'false',
    },
  },
});
