import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { openRuntime } from '../peers/runtime.mjs';
import { capture } from './capture.mjs';
import { svgOf } from './svg.mjs';

const example = name => fileURLToPath(new URL(`../../fixtures/examples/${name}.yaml`, import.meta.url));
const BIN = fileURLToPath(new URL('../../bin/protocol-cli.cjs', import.meta.url));
const SESSION = fileURLToPath(new URL('session.yaml', import.meta.url));
const TRANSCRIPT = new URL('../../fixtures/transcripts/diff.ndjson', import.meta.url);

/**
 * The pictures of the README: their file, and the line that they show. Without `until` it is the screen at the program's end;
 * with it, the screen that shows that: to its last row, since a screen may come in pieces. `serve` starts what the line needs, and gives its last words. `shown` is the line where it has a path of this machine in it; `meanwhile` is what others
 * do once the program has said its URL; `typed` is what a person types, each piece once the screen shows something.
 */
export const PICTURES = [
  {
    file: 'workbench.svg',
    words: ['invoke', '-i', '--demo', 'edit_file', 'path=src/main.rs'],
    size: { columns: 132, rows: 30 },
    typed: [
      [/path\*\s+src\/main\.rs/, '\u0012'],
      [/✓ success/, '2'], // to and fro: what colours code is loaded by then
      [/TIMELINE/, '1'],
      [/process::exit/, '3'],
      [/WIRE/, '1'],
    ],
    until: /✓ success.*process::exit.*quit/s,
  },
  { file: 'invoke.svg', words: ['invoke', '--demo'], size: { columns: 120, rows: 40 } },
  {
    file: 'choice.svg',
    words: ['invoke', '--demo', 'write_outside', 'path=/etc/hosts'],
    size: { columns: 90, rows: 16 },
    until: /esc/i,
  },
  {
    file: 'oauth.svg',
    words: ['invoke', '--demo', 'open_issue', 'title=Typo'],
    size: { columns: 90, rows: 12 },
    until: /opens it/,
  },
  {
    file: 'subscription.svg',
    words: ['invoke', '--demo', 'watch', '--follow'],
    size: { columns: 90, rows: 24 },
  },
  {
    file: 'view.svg',
    words: ['invoke', '--demo', 'refactor'],
    size: { columns: 90, rows: 20 },
    until: /updated 2 times.*\b3\b[^\n]*\}\s*$/s,
  },
  {
    file: 'repeat.svg',
    words: ['invoke', '--demo', 'deploy', 'service=api', '--repeat', '5', '--concurrency', '5'],
    size: { columns: 100, rows: 12 },
  },
  {
    file: 'render.svg',
    words: ['render', await patchFile()],
    shown: ['render', 'retry.patch'],
    size: { columns: 132, rows: 40 },
  },
  {
    file: 'mock-tool.svg',
    words: ['mock-tool', example('subscription'), '--seed', 'acme'],
    shown: ['mock-tool', 'fixtures/examples/subscription.yaml', '--seed', 'acme'],
    size: { columns: 110, rows: 26 },
    meanwhile: callTheMock,
    until: /waiting: press f to send.*quit/s,
  },
  {
    file: 'session.svg',
    words: ['session', 'answer'],
    shown: ['session', 'answer', ':3002', '--tool', ':3001'],
    size: { columns: 120, rows: 32 },
    serve: serveSession,
    typed: [[/edit_file.*success/, 'k1']], // the diff would have colours only once the lexers are loaded
    until: /edit_file call_2.*q quit/s,
  },
];

/** Draws one from a real run; its times and ports are that run's, its layout is always the same. */
export async function draw({ words, size, serve, ...how }) {
  const served = await serve?.();
  try {
    return svgOf(await capture([...words, ...(served?.words ?? [])], size, how), 'protocol-cli');
  } finally {
    served?.stop();
  }
}

/** The diff of a transcript as a file, as `git diff > retry.patch` would have made it. */
async function patchFile() {
  const lines = (await readFile(TRANSCRIPT, 'utf8'))
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line));
  const messages = lines.filter(({ kind }) => kind === 'body').map(({ data }) => JSON.parse(data));
  const {
    display_as: [diff],
  } = messages.find(({ display_as }) => display_as);
  const file = join(await mkdtemp(join(tmpdir(), 'picture-')), 'retry.patch');
  await writeFile(file, diff.content.patch);
  return file;
}

async function callTheMock(url) {
  const runtime = await openRuntime();
  const args = { repository: 'acme/api' };
  const call = await runtime.invoke(url, 'watch_pull_requests', args, { id: 'call_1', groupId: 'thread_1' });
  await call.result();
  return () => runtime.close();
}

/** A platform whose agent edits a file and deploys, and the bundled tool that serves it. */
async function serveSession() {
  const [tool, platform] = await Promise.all([
    serve(['mock-tool', '--demo', '-q']),
    serve(['session', 'mock', SESSION, '-q', '--key', 'secret']),
  ]);
  const stop = () => {
    for (const each of [tool, platform]) each.stop();
  };
  return { words: [platform.url, platform.session, '--tool', tool.url, '--key', 'secret'], stop };
}

/** A command that serves, and what its ready line says. */
async function serve(words) {
  const child = spawn(process.execPath, [BIN, ...words], { stdio: ['ignore', 'pipe', 'ignore'] });
  const [line] = await once(createInterface(child.stdout), 'line');
  return { ...JSON.parse(line), stop: () => child.kill() };
}
