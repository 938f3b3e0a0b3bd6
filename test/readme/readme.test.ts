import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { transform } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { EXIT_STATUSES } from '../../src/commands/exit-status.js';
import { startHere } from '../e2e/support/in-process.js';
import { type Peer, startPeer } from '../e2e/support/peers.js';
import { blocksOf, examplesOf, withoutNumbers } from './examples.js';

const run = promisify(execFile);
const readme = await readFile('README.md', 'utf8');
let tool: Peer;
let listenerPort = 0;
/** For the files that examples name, and those that they write. */
let folder = '';

beforeAll(async () => {
  tool = await startPeer('plain');
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
  await tool.stop();
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
    .replaceAll('http://127.0.0.1:3001', tool.url)
    .replaceAll('http://tool:3001', tool.url)
    .replaceAll('node server.mjs', 'node test/peers/plain-tool.mjs')
    .replaceAll('http://me:8080', `http://127.0.0.1:${listenerPort}`)
    .replaceAll('8080', String(listenerPort))
    .replaceAll(/(?<= )(policy\.yaml|choice\.svg|session\.ndjson|orders?\.yaml|client\.mjs)/g, name =>
      join(folder, name),
    );
}

interface Said {
  readonly stdout: string;
  readonly stderr: string;
}

/** Where it takes no shell it takes no process either: to start one takes longer than all the rest. */
async function tried(line: string): Promise<Said> {
  const [, stdin, timeout, words] =
    /^(?:echo '([^']*)' \| |(timeout) \d+ )?node bin\/protocol-cli\.cjs ([^|&;$<>`"]*)$/.exec(line) ?? [];
  if (words === undefined || words.includes(' -- ')) return run('sh', ['-c', line]); // rejects unless it exits 0
  const program = startHere(wordsOf(words), {
    cwd: process.cwd(),
    stdin: stdin === undefined ? '' : `${stdin}\n`,
  });
  if (timeout) {
    await program.says(/\n/);
    program.signal('SIGTERM');
  }
  return program.ended;
}

function wordsOf(line: string): string[] {
  return [...line.matchAll(/(?:'[^']*'|[^\s'])+/g)].map(([word]) => word.replaceAll("'", ''));
}

describe.concurrent('every example of the README', () => {
  const examples = examplesOf(readme);

  test('is found', ({ expect }) => expect(examples.length).toBeGreaterThan(10));

  test.for(examples)('$command', async ({ command, output }, { expect }) => {
    const { stdout, stderr } = await tried(local(command));
    expect(`${stdout}${stderr}`).not.toBe('');
    if (/ mock-tool .* -- /.test(command)) expect(stderr).toContain('✓ verified');
    const printed = `${stdout}${output.some(line => line.startsWith('error: ')) ? stderr : ''}`.split('\n');
    const promised = output.filter(line => line !== '…');
    expect(printed.slice(0, promised.length).map(withoutNumbers)).toEqual(promised.map(withoutNumbers));
  });
});

test('the example in code prints what it says', async () => {
  const [source = ''] = blocksOf(readme, 'ts');
  const [, said] = /\/\/ (.*)$/m.exec(source) ?? [];
  const { code } = await transform(source.replace('http://127.0.0.1:3001', tool.url), {
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
