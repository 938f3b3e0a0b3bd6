import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { invokeOnce } from '../peers/runtime.mjs';

/*
 * Records test/goldens/transcripts anew, each from a real run. This is needed only when the transcript format itself changes;
 * `npm run goldens` renders the transcripts that are there. With arguments: records only the names that start with one of them.
 */
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const BIN = 'bin/protocol-cli.cjs';
const TARGET = fileURLToPath(new URL('transcripts/', import.meta.url));
/** Fixed ports, so that two recordings differ only in times. */
const [TOOL, CALLBACK, THIRD] = ['4310', '4311', '4312'];
const QUICK = ['--timeout', '150ms'];
const LINGER = ['--linger', '150ms'];

const example = name => ['mock-tool', `fixtures/examples/${name}.yaml`, '--seed', 'goldens', '-q'];
const peer = name => [`test/peers/${name}-tool.mjs`];

/** By server: the transcripts that are recorded from it, each with the arguments of `invoke`. */
const CALLS = [
  {
    server: ['mock-tool', '--demo', '--seed', 'goldens', '-q'],
    calls: {
      'demo-edit-file': ['edit_file', 'path=src/main.rs'],
      'demo-deploy': ['deploy', 'service=api', 'replicas=2', '--user-id', 'user_42'],
      'demo-list': ['list_instances'],
      'demo-choice': ['write_outside', 'path=/etc/hosts', '--choose', '0'],
      'demo-watch': ['watch', '--follow'],
      'demo-refactor': ['refactor'],
      'demo-rate-limited': ['rate_limited'],
      'demo-repeat': ['deploy', 'service=api', '--repeat', '4', '--concurrency', '2'],
    },
  },
  {
    server: example('choice'),
    journal: 'mock-choice-journal',
    calls: { 'mock-choice-no': ['write_outside', 'path=a.txt', '--choose', 'No'] },
  },
  {
    server: example('display'),
    calls: { 'mock-create': ['create_file'], 'mock-image': ['draw'] },
    journal: 'mock-display-journal',
  },
  {
    server: example('faults'),
    calls: { 'mock-ack-503': ['flaky_ack'], 'mock-duplicate': ['flaky_callback', ...LINGER] },
    journal: 'mock-faults-journal',
  },
  {
    server: example('matching'),
    calls: {
      'mock-matched': ['edit_file', 'path=src/lib.rs', 'lines:=3', 'mode=fast'],
      'mock-unmatched': ['move_file', 'to=b'],
    },
  },
  {
    server: example('middleware'),
    calls: { 'mock-redacted': ['login'], 'mock-sanitized': ['read_log'] },
    journal: 'mock-middleware-journal',
  },
  {
    server: example('outcomes'),
    calls: {
      'mock-error': ['query'],
      'mock-canceled': ['transfer'],
      'mock-timeout': ['compute'],
      'mock-denied': ['delete_all'],
      'mock-silence': ['vanish', ...QUICK],
    },
    journal: 'mock-outcomes-journal',
  },
  {
    server: example('templates'),
    calls: {
      'mock-echo': ['echo', 'count=3', 'items:=["a","b"]', '--ancestor', 'root', '--call-id', 'second'],
    },
  },
  {
    server: example('toolset'),
    calls: { 'mock-bad-arguments': ['read_file', 'path=a.txt', 'lines:=0', '--no-validate'] },
  },
  { server: example('view'), calls: { 'mock-unknown-view': ['migrate_data'] } },
  {
    node: peer('odd'),
    calls: {
      ...Object.fromEntries(
        [
          'before_ack',
          'ack_201',
          'ack_404',
          'ack_500',
          'ack_503_once',
          'ack_reset',
          'then_right',
          'bom',
          'content_items',
          'lone_surrogate',
          'hostile_text',
          'unknown_segments',
          'unknown_only',
          'text_first',
          'bad_diff_then_text',
          'two_files_diff',
          'unknown_view',
          'choice_bad_default',
          'event_unasked',
          'empty_text',
        ].map(name => [`odd-${name.replaceAll('_', '-')}`, [name, '--timeout', '2s']]),
      ),
      ...Object.fromEntries(
        [
          'silent',
          'misdirected',
          'wrong_type',
          'malformed_json',
          'forged_id',
          'missing_text',
          'deep_json',
        ].map(name => [`odd-${name.replaceAll('_', '-')}`, [name, ...QUICK]]),
      ),
      'odd-delivered-twice': ['delivered_twice', ...LINGER],
      'odd-wrong-call-id': ['wrong_call_id', '--call-id', 'second', ...QUICK],
      'odd-event-after-final': ['event_after_final', '--follow'],
    },
  },
  {
    node: peer('plain'),
    calls: {
      'plain-json': ['json'],
      'plain-denied': ['lmkit', 'kind=denied'],
      'plain-big': ['big', 'bytes:=6000', 'kind=mixed'],
      'plain-edit': ['edit_file', 'path=src/retry.ts', 'replace:=3'],
    },
  },
];

const wanted = process.argv.slice(2);
const isWanted = name => wanted.length === 0 || wanted.some(each => name.startsWith(each));
const work = await mkdtemp(join(tmpdir(), 'goldens-'));

for (const { server, node, calls, journal } of CALLS) {
  const names = Object.keys(calls);
  if (![...names, journal ?? ''].some(name => name !== '' && isWanted(name))) continue;
  const tool = server ? start([...server, '--port', TOOL]) : start([], { words: node, env: { PORT: TOOL } });
  await tool.line;
  for (const name of names) await recordCall(name, calls[name]);
  if (journal) await saveJournal(journal);
  await tool.stop();
}
if (isWanted('recorder')) await recordRecorder();
if (isWanted('session')) await recordSession();
if (isWanted('listen')) await recordListen();
if (isWanted('check')) await recordCheck();
if (isWanted('mcp')) await recordMcp();
if (isWanted('damaged')) await damage();
await rm(work, { recursive: true });

function start(args, { words = [BIN], env = {} } = {}) {
  const child = spawn(process.execPath, [...words, ...args], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, HOME: '/proc/nowhere', NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close');
  const line = once(createInterface(child.stdout), 'line').then(([text]) => JSON.parse(text));
  line.catch(() => {});
  child.stderr.resume();
  return {
    line,
    closed: closed.then(() => child.exitCode),
    async stop() {
      child.kill();
      await closed;
    },
  };
}

/** Runs a command that saves a transcript. */
async function saving(name, args) {
  const file = join(work, `${name}.ndjson`);
  const status = await start([...args, '--save', file]).closed;
  await keep(name, await readFile(file, 'utf8'), `exit ${status}`);
}

async function keep(name, text, how = '') {
  if (!isWanted(name)) return;
  const file = join(TARGET, `${name}.ndjson`);
  await writeFile(file, text);
  await chmod(file, 0o644);
  process.stdout.write(`${name}: ${text.length} bytes ${how}\n`);
}

async function recordCall(name, args) {
  const ids = args.includes('--repeat') ? [] : ['--id', `call_${name}`];
  const thread = name.startsWith('demo') ? [] : ['--group-id', `thread_${name}`];
  await saving(name, [
    'invoke',
    `:${TOOL}`,
    ...args,
    ...ids,
    ...thread,
    '--callback-port',
    CALLBACK,
    '-o',
    'plain',
  ]);
}

/** What the mock saw of the calls before. */
async function saveJournal(name) {
  const response = await fetch(`http://127.0.0.1:${TOOL}/__mock__/journal`, {
    headers: { accept: 'application/x-ndjson' },
  });
  await keep(name, await response.text());
}

async function recordRecorder() {
  const tool = start([...example('display'), '--port', TOOL]);
  await tool.line;
  const file = join(work, 'recorder.ndjson');
  const recorder = start(['record', `:${TOOL}`, '--port', THIRD, '--save', file, '-q']);
  await recorder.line;
  for (const operation of ['edit_file', 'create_file'])
    await start([
      ...[
        'invoke',
        `:${THIRD}`,
        operation,
        'path=a.txt',
        '--id',
        `call_${operation}`,
        '--group-id',
        'thread_recorded',
      ],
      ...['--callback-port', CALLBACK, '-o', 'plain'],
    ]).closed;
  await recorder.stop();
  await tool.stop();
  await keep('recorder', await readFile(file, 'utf8'));
}

async function recordSession() {
  const file = join(work, 'session-platform.ndjson');
  const platform = start([
    ...[
      'session',
      'mock',
      'fixtures/sessions/order.yaml',
      '--port',
      THIRD,
      '--key',
      'secret',
      '-q',
      '--save',
      file,
    ],
  ]);
  const { url, session } = await platform.line;
  await saving('session-client', [
    ...[
      'session',
      'answer',
      url,
      session,
      '--fixtures',
      'test/goldens/orders.yaml',
      '--key',
      'secret',
      '-o',
      'plain',
    ],
  ]);
  await platform.stop();
  await keep('session-platform', await readFile(file, 'utf8'));
}

/** What a listener hears of two calls: one that is expected, and one that is not. */
async function recordListen() {
  const file = join(work, 'listen.ndjson');
  const listener = start([
    ...['listen', '--port', CALLBACK, '--expect', 'thread_1/call_1', '--count', '1', '--timeout', '5s'],
    ...['-o', 'json', '--save', file],
  ]);
  const { callback_url } = await listener.line;
  for (const id of ['call_2', 'call_1'])
    await fetch(callback_url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'tool_result', group_id: 'thread_1', id, text: `the result of ${id}` }),
    });
  await listener.closed;
  await keep('listen', await readFile(file, 'utf8'));
}

async function recordCheck() {
  const tool = start([
    'mock-tool',
    'fixtures/examples/toolset.yaml',
    '--port',
    TOOL,
    '--seed',
    'goldens',
    '-q',
  ]);
  const { url } = await tool.line;
  await invokeOnce(url, 'read_file', { path: 'a.txt', lines: 2 }, { callId: 'second', limitMs: 2_000 });
  await saving('check', [
    'check',
    url,
    '--only',
    'TOOL-ID',
    '--only',
    'TOOL-BAD-ARGS',
    '--probe-timeout',
    '300ms',
    '--callback-port',
    CALLBACK,
  ]);
  await tool.stop();
}

async function recordMcp() {
  for (const [name, args] of [
    ['mcp-result', ['echo', 'text=hi']],
    ['mcp-mixed', ['mixed']],
    ['mcp-error', ['fails']],
  ])
    await saving(name, ['invoke', '--mcp', 'node test/peers/mcp-server.mjs', ...args, '-o', 'plain']);
}

/** Transcripts as a crash or an editor leaves them. */
async function damage() {
  const lines = (await readFile(join(TARGET, 'demo-watch.ndjson'), 'utf8')).trimEnd().split('\n');
  await keep('damaged-cut', `${lines.slice(0, -6).join('\n')}\n${lines.at(-6).slice(0, 40)}`);
  const broken = lines.map((line, index) => (index === 7 ? 'not JSON' : line));
  await keep('damaged-line', `${broken.join('\n')}\n`);
}
