import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { publint } from 'publint';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { GUIDES } from '../../src/commands/command-line.js';
import { openShell } from '../screen/support/screen.js';
import { declarations } from './support/declarations.js';
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
  'dist/index.d.ts',
  'dist/THIRD-PARTY-NOTICES.txt',
  'fixtures/demo.json',
  'fixtures/runtimes/go/driver.go',
  'fixtures/runtimes/node/driver.mjs',
  'fixtures/runtimes/python/driver.py',
  'fixtures/init/tool/go/go.mod',
  'fixtures/init/tool/node/tool.mjs',
  ...GUIDES.map(({ name }) => `src/guides/${name}.md`),
];

const execute = promisify(execFile);

const namesSchema = z.record(z.string(), z.string());

const manifestSchema = z.object({ version: z.string(), scripts: namesSchema, dependencies: namesSchema });

const lockSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({
      integrity: z.string().optional(),
      hasInstallScript: z.boolean().optional(),
      dependencies: namesSchema.optional(),
    }),
  ),
});

const manifest = manifestSchema.parse(JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')));
const lock = lockSchema.parse(JSON.parse(await readFile(join(ROOT, 'package-lock.json'), 'utf8')));

/** The packages that npm installs with this one. */
const INSTALLED = withDependencies(Object.keys(manifest.dependencies));

let empty: Folder;
let files: readonly string[];
let tarball: string;
const installed = (path: string) => empty.file(join('node_modules/protocol-cli', path));

beforeAll(async () => {
  empty = await temporaryFolder();
  await declarations();
  tarball = empty.file(`protocol-cli-${manifest.version}.tgz`);
  const packing = 'pack --ignore-scripts --silent --pack-destination';
  await execute('npm', [...packing.split(' '), empty.path], { cwd: ROOT });
  // npm finds the dependencies there, so that it needs no registry.
  const copied = INSTALLED.map(name => join('node_modules', name));
  await Promise.all(copied.map(path => cp(join(ROOT, path), empty.file(path), { recursive: true })));
  const installing = 'install --offline --ignore-scripts --no-audit --no-fund --silent --prefix';
  await execute('npm', [...installing.split(' '), empty.path, tarball], { cwd: empty.path });
  const entries = await readdir(installed(''), { recursive: true, withFileTypes: true });
  const paths = entries.filter(each => each.isFile()).map(each => join(each.parentPath, each.name));
  files = paths.map(path => relative(installed(''), path));
}, 180_000);

afterAll(() => empty[Symbol.asyncDispose]());

describe('the tarball (row 31)', () => {
  it('is built before it is packed', () => {
    expect(manifest.scripts).toMatchObject({
      prepack: 'npm run build',
      dependencies: 'npm run build', // in a clone, at the end of npm ci; as `prepare`, npm would warn users of it
      build: 'node .build/build.mjs && node .build/declarations.mjs',
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

  it('has the types of the library in one file', () => {
    expect(files.filter(path => /^dist\/.*\.d\.[cm]?ts$/.test(path))).toEqual(['dist/index.d.ts']);
  });

  it('has a library that imports all of its dependencies and nothing else', async () => {
    const options = { bundle: true, packages: 'external', format: 'esm', platform: 'node' } as const;
    const entryPoints = [installed('dist/index.js')];
    const { metafile } = await build({
      ...options,
      entryPoints,
      outdir: empty.path,
      write: false,
      metafile: true,
    });
    const imported = Object.values(metafile.inputs)
      .flatMap(({ imports }) => imports)
      .filter(({ path, external }) => external && !isBuiltin(path))
      .map(({ path }) => packageOf(path));
    expect([...new Set(imported)].sort()).toEqual(Object.keys(manifest.dependencies));
  });

  it('says which Node it needs, before it loads anything else', async () => {
    const old =
      'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "18.20.4" } })';
    const entry = [installed('bin/protocol-cli.cjs'), 'toolset', '--demo'];
    const running = execute(process.execPath, ['--import', `data:text/javascript,${old}`, ...entry]);
    await expect(running).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringMatching(
        /^error: protocol-cli needs Node\.js 20\.19 or newer; this is 18\.20\.4\n/,
      ),
    });
  });

  it('has an executable file', async () => {
    expect((await stat(installed('bin/protocol-cli.cjs'))).mode & 0o111).toBe(0o111);
  });

  it("has neither Ink's devtools nor an import of them", async () => {
    const scripts = files.filter(path => /\.[cm]?js$|^package\.json$/.test(path));
    const texts = await Promise.all(scripts.map(path => readFile(installed(path), 'utf8')));
    const named = /connectToDevTools|['"]react-devtools-core['"]|devtools-window-polyfill/;
    expect(scripts.filter((_, index) => named.test(texts[index] ?? ''))).toEqual([]);
    expect(Object.keys(lock.packages).filter(path => path.includes('react-devtools'))).toEqual([]);
  });

  it('has no native code', () => {
    expect(files.filter(path => /\.node$|binding\.gyp$/.test(path))).toEqual([]);
  });

  it('satisfies publint', async () => {
    const { buffer } = await readFile(tarball);
    const { messages } = await publint({ pack: { tarball: buffer }, level: 'suggestion' });
    expect(messages).toEqual([]);
  });

  it('has types that TypeScript finds as Node finds the modules', async () => {
    const attw = [join(ROOT, 'node_modules/.bin/attw'), tarball, '--profile', 'esm-only', '--no-emoji'];
    const { stdout } = await execute(process.execPath, attw); // rejects unless it exits 0
    expect(stdout).toMatch(/^node16 \(from ESM\): OK \(ESM\)$/m);
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

  it('row 31: the lock file has an integrity for every package', () => {
    const lacking = Object.entries(lock.packages).filter(
      ([path, { integrity }]) => path !== '' && !integrity,
    );
    expect(lacking.map(([path]) => path)).toEqual([]);
  });

  it('row 31: comes with few packages, without install scripts and native code', async () => {
    const { packages } = lockSchema.parse(
      JSON.parse(await readFile(empty.file('node_modules/.package-lock.json'), 'utf8')),
    );
    const names = Object.keys(packages).map(path => path.replace('node_modules/', ''));
    expect(names.sort()).toEqual([...INSTALLED, 'protocol-cli'].sort());
    expect(names.length).toBeLessThan(20);
    expect(Object.values(packages).filter(({ hasInstallScript }) => hasInstallScript)).toEqual([]);
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

/** By the lock file, all packages that these need. */
function withDependencies(names: readonly string[]): string[] {
  const found = new Set(names);
  for (const name of found)
    for (const needed of Object.keys(lock.packages[`node_modules/${name}`]?.dependencies ?? {}))
      found.add(needed);
  return [...found];
}

/** `ajv/dist/2020.js` is a file of `ajv`. */
function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
