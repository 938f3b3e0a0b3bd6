import { readFile } from 'node:fs/promises';
import { extname, relative, resolve } from 'node:path';
import { build } from 'esbuild';

const DEFINITION = /^src\/commands\/[^/]+\/command\.ts$/;

/** What is there, or may as well be, by the time that something else is loaded. */
const EARLIER = [
  { whole: 'src/cli.ts', isBefore: () => true },
  { whole: 'src/commands/help.ts', isBefore: () => true },
  { whole: 'src/commands/options.ts', isBefore: () => true },
  { whole: 'src/commands/invoke/start.ts', isBefore: path => !DEFINITION.test(path) },
];

/**
 * Fewer files: esbuild makes one of all that the same entries share, and every `import()` is an entry. A start would load fifty
 * of a few lines each, and a file takes its time however short it is. So what is loaded later imports what came earlier, whole:
 * then all of that has the same users, and is one file.
 */
export async function gather(options) {
  const { metafile } = await build({ ...options, metafile: true, write: false });
  const entries = Object.values(metafile.outputs).flatMap(({ entryPoint = [] }) => entryPoint);
  const root = options.absWorkingDir;
  const earlierThan = path => EARLIER.filter(({ whole, isBefore }) => whole !== path && isBefore(path));
  return {
    name: 'gather',
    setup({ onLoad }) {
      onLoad({ filter: /\.[cm]?[jt]sx?$/ }, async ({ path: file }) => {
        const path = relative(root, file).replaceAll('\\', '/');
        if (!entries.includes(path) || options.entryPoints.includes(path)) return;
        const imports = earlierThan(path).map(
          ({ whole }) => `import ${JSON.stringify(resolve(root, whole))};`,
        );
        return { contents: [await readFile(file, 'utf8'), ...imports].join('\n'), loader: loaderOf(file) };
      });
    },
  };
}

function loaderOf(file) {
  return extname(file).replace(/^\.[cm]?/, '');
}
