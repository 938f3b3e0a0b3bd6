import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { transform } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EXIT_STATUSES } from '../../src/commands/exit-status.js';
import { runHere } from '../e2e/support/in-process.js';
import { blocksOf, examplesOf, withoutNumbers } from './examples.js';

const run = promisify(execFile);
const readme = await readFile('README.md', 'utf8');
const tool = spawn(process.execPath, ['test/peers/plain-tool.mjs'], { stdio: ['ignore', 'pipe', 'inherit'] });
let toolUrl = '';
let listenerPort = 0;
/** For the files that examples name, and those that they write. */
let folder = '';

beforeAll(async () => {
  const [line] = await once(createInterface(tool.stdout), 'line');
  toolUrl = `http://127.0.0.1:${JSON.parse(line).port}`;
  listenerPort = await freePort();
  folder = await mkdtemp(join(tmpdir(), 'readme-'));
  await Promise.all(
    FILES.map(([name, language, beginning]) =>
      writeFile(
        join(folder, name),
        blocksOf(readme, language).find(block => block.startsWith(beginning)) ?? '',
      ),
    ),
  );
});
afterAll(async () => {
  tool.kill();
  await rm(folder, { recursive: true });
});

/** What the README shows of files that its examples name: their blocks, by how they begin. */
const FILES = [
  ['policy.yaml', 'yaml', '# policy.yaml'],
  ['order.yaml', 'yaml', '# protocol-cli session mock order.yaml'],
  ['orders.yaml', 'yaml', '# orders.yaml'],
  ['client.mjs', 'js', '// client.mjs'],
] as const;

/** The README's names for things, as they are here. */
function local(command: string): string {
  return command
    .replaceAll('npx protocol-cli', 'node bin/protocol-cli.cjs')
    .replaceAll('http://127.0.0.1:3001', toolUrl)
    .replaceAll('http://tool:3001', toolUrl)
    .replaceAll('node server.mjs', 'node test/peers/plain-tool.mjs')
    .replaceAll('http://me:8080', `http://127.0.0.1:${listenerPort}`)
    .replaceAll('8080', String(listenerPort))
    .replaceAll(/(?<= )(policy\.yaml|choice\.svg|session\.ndjson|orders?\.yaml|client\.mjs)/g, name =>
      join(folder, name),
    );
}

/** Where it takes no shell it takes no process either: to start one takes longer than all the rest. */
function tried(line: string): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const words = wordsOf(line);
  return words ? runHere(words, { cwd: process.cwd() }) : run('sh', ['-c', line]).catch(failed => failed);
}

/** What follows the program's name, where nothing is piped and nobody else is started. */
function wordsOf(line: string): string[] | null {
  const [, words] = /^node bin\/protocol-cli\.cjs ([^|&;$<>`"]*)$/.exec(line) ?? [];
  if (words === undefined || /(?:^| )--(?:command|mcp)? /.test(words)) return null;
  return [...words.matchAll(/(?:'[^']*'|[^\s'])+/g)].map(([word]) => word.replaceAll("'", ''));
}

describe.concurrent('every example of the README', () => {
  const examples = examplesOf(readme);

  test('is found', ({ expect }) => expect(examples.length).toBeGreaterThan(10));

  test.for(examples)('$command', async ({ command, output }, { expect }) => {
    const { stdout, stderr } = await tried(local(command));
    expect(`${stdout}${stderr}`).not.toBe('');
    const printed = `${stdout}${output.some(line => line.startsWith('error: ')) ? stderr : ''}`.split('\n');
    const promised = output.filter(line => line !== '…');
    expect(printed.slice(0, promised.length).map(withoutNumbers)).toEqual(promised.map(withoutNumbers));
  });
});

test('the example in code prints what it says', async () => {
  const [source = ''] = blocksOf(readme, 'ts');
  const [, said] = /\/\/ (.*)$/m.exec(source) ?? [];
  const { code } = await transform(source.replace('http://127.0.0.1:3001', toolUrl), {
    loader: 'ts',
    target: 'node20',
  });
  const inside = await mkdtemp('test/readme/.run-');
  try {
    await writeFile(`${inside}/example.mjs`, code);
    const { stdout } = await run(process.execPath, [`${inside}/example.mjs`]);
    expect(stdout.trim()).toBe(said);
  } finally {
    await rm(inside, { recursive: true });
  }
});

test('the session script is the one in the package', async () => {
  const script = await readFile('fixtures/sessions/order.yaml', 'utf8');
  expect(blocksOf(readme, 'yaml')).toContain(script);
});

test('the exit statuses are those of the program', () => {
  const rows = [...readme.matchAll(/^\| (\d+) \| (.*) \|$/gm)];
  expect(rows.length).toBeGreaterThan(5);
  for (const [, status, meaning] of rows) expect({ ...EXIT_STATUSES }).toHaveProperty(status ?? '', meaning);
});

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}
