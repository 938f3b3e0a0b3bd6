import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { publint } from 'publint';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { GUIDES } from '../../src/commands/command-line.js';
import { openShell } from '../screen/support/screen.js';
import { type Folder, temporaryFolder } from './support/folder.js';
import { ROOT } from './support/program.js';
import { steady } from './support/report.js';

/** The package as users get it: packed as it was built, then installed. */
const NEEDED = [
  'LICENSE',
  'README.md',
  'package.json',
  'bin/protocol-cli.cjs',
  'dist/cli.js',
  'dist/index.js',
  'dist/types/index.d.ts',
  'dist/THIRD-PARTY-NOTICES.txt',
  'fixtures/demo.json',
  'fixtures/runtimes/node/driver.mjs',
  'fixtures/runtimes/python/driver.py',
  ...GUIDES.map(({ name }) => `src/guides/${name}.md`),
];

const execute = promisify(execFile);

const manifestSchema = z.object({ version: z.string(), scripts: z.record(z.string(), z.string()) });

const lockSchema = z.object({
  packages: z.record(z.string(), z.object({ integrity: z.string().optional() })),
});

let empty: Folder;
let files: readonly string[];
const installed = (path: string) => empty.file(join('node_modules/protocol-cli', path));
let manifest: z.infer<typeof manifestSchema>;

beforeAll(async () => {
  empty = await temporaryFolder();
  manifest = manifestSchema.parse(JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')));
  if (!existsSync(join(ROOT, 'dist/types')))
    await execute(join(ROOT, 'node_modules/.bin/tsc'), ['-p', '.build/types.json'], { cwd: ROOT });
  // As `npm pack`, then `npm install` of its tarball, in half the time.
  const installing =
    'install --install-links --ignore-scripts --no-audit --no-fund --prefer-offline --silent';
  await execute('npm', [...installing.split(' '), '--prefix', empty.path, ROOT], { cwd: empty.path });
  const entries = await readdir(installed(''), { recursive: true, withFileTypes: true });
  const paths = entries.filter(each => each.isFile()).map(each => join(each.parentPath, each.name));
  files = paths.map(path => relative(installed(''), path));
}, 180_000);

afterAll(() => empty[Symbol.asyncDispose]());

describe('the tarball (row 31)', () => {
  it('is built before it is packed', () => {
    expect(manifest.scripts).toMatchObject({
      prepare: 'npm run build',
      build: 'node .build/build.mjs && tsc -p .build/types.json',
    });
  });

  it('has what users need, and nothing else', () => {
    expect(NEEDED.filter(path => !files.includes(path))).toEqual([]);
    const others = files.filter(
      path =>
        !/^(bin|dist|fixtures|src\/guides)\/|^(LICENSE|README\.md|CHANGELOG\.md|package\.json)$/.test(path),
    );
    expect(others).toEqual([]);
  });

  it('has every declaration that index.d.ts imports', async () => {
    const types = installed('dist/types');
    const reached = new Set(['index.d.ts']);
    for (const file of reached) {
      const text = await readFile(join(types, file), 'utf8');
      for (const [, name = ''] of text.matchAll(/\b(?:from|import\()\s*["'](\.[^"']+)\.js["']/g))
        reached.add(join(dirname(file), `${name}.d.ts`));
    }
    const packed = files.filter(path => path.startsWith('dist/types/'));
    expect(packed).toEqual(expect.arrayContaining([...reached].map(file => `dist/types/${file}`)));
  });

  it('has an executable file', async () => {
    expect((await stat(installed('bin/protocol-cli.cjs'))).mode & 0o111).toBe(0o111);
  });

  it('has no devtools of Ink', async () => {
    const scripts = files.filter(path => path.endsWith('.js'));
    const texts = await Promise.all(scripts.map(path => readFile(installed(path), 'utf8')));
    expect(scripts.filter((_, index) => texts[index]?.includes('connectToDevTools'))).toEqual([]);
  });

  it('has no native code', () => {
    expect(files.filter(path => /\.node$|binding\.gyp$/.test(path))).toEqual([]);
  });

  it('satisfies publint', async () => {
    const pkgDir = installed('');
    const { messages } = await publint({ pkgDir, level: 'warning', pack: false });
    expect(messages).toEqual([]);
  });
});

describe('installed into an empty folder', () => {
  it('invoke --demo prints the result', async () => {
    const { stdout, stderr } = await program('invoke', '--demo');
    expect(stdout).toBe('Replaced text in src/main.rs');
    expect(steady(stderr)).toBe('');
  });

  it('invoke --demo draws the diff', async () => {
    const { stdout } = await program('invoke', '--demo', '-o', 'plain');
    expect(stdout).toMatch(/HUMAN display_as\[0\] diff/);
    expect(stdout).toMatch(/LLM text, 28 bytes/);
  });

  it('help prints a guide in a pipe', async () => {
    expect((await program('help', 'fixtures')).stdout).toMatch(/^# Fixtures\n/);
  });

  it('row 29: runs no package of the folder because of the environment', async () => {
    await mkdir(empty.file('node_modules/react-devtools-core'));
    await empty.write('node_modules/react-devtools-core/package.json', '{"main":"index.cjs"}');
    await empty.write(
      'node_modules/react-devtools-core/index.cjs',
      `require('node:fs').writeFileSync('planted', ''); exports.initialize = exports.connectToDevTools = () => {};`,
    );
    await using screen = openShell('node_modules/.bin/protocol-cli invoke --demo', {
      cwd: empty.path,
      env: { DEV: 'true' },
    });
    await screen.shows('Replaced text in src/main.rs');
    expect(existsSync(empty.file('planted'))).toBe(false);
  });

  it('--version is the version of the package', async () => {
    expect((await program('--version')).stdout).toBe(`${manifest.version}\n`);
  });

  it('row 31: the lock file has an integrity for every package', async () => {
    const { packages } = lockSchema.parse(
      JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')),
    );
    const lacking = Object.entries(packages).filter(([path, { integrity }]) => path !== '' && !integrity);
    expect(lacking.map(([path]) => path)).toEqual([]);
  });

  it('row 31: installs zod and nothing else, without install scripts and native code', async () => {
    const lock = z
      .object({ packages: z.record(z.string(), z.object({ hasInstallScript: z.boolean().optional() })) })
      .parse(JSON.parse(await readFile(empty.file('node_modules/.package-lock.json'), 'utf8')));
    expect(Object.keys(lock.packages).sort()).toEqual(['node_modules/protocol-cli', 'node_modules/zod']);
    expect(Object.values(lock.packages).filter(({ hasInstallScript }) => hasInstallScript)).toEqual([]);
    const all = await readdir(empty.file('node_modules'), { recursive: true });
    expect(all.filter(path => /\.node$|binding\.gyp$/.test(path))).toEqual([]);
  });

  it('is a library with named, typed exports', async () => {
    await empty.write(
      'use.mjs',
      `import { History, outcomeOfText, readTranscript } from 'protocol-cli';
       console.log(typeof History, outcomeOfText('Error: x').type, readTranscript([]).events.length);`,
    );
    const { stdout } = await execute(process.execPath, ['use.mjs'], { cwd: empty.path });
    expect(stdout).toBe('function error 0\n');
  });
});

function program(...args: string[]) {
  return execute(empty.file('node_modules/.bin/protocol-cli'), args, { cwd: empty.path });
}
