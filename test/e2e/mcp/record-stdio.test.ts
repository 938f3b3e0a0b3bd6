import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { type CallToolResult, Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { valueAt } from '../../../src/util/values.js';
import { INITIALIZE, rpcCall } from '../../mock/mcp/start-mcp-mock.js';
import { isRunning } from '../../support/is-running.js';
import { eventually } from '../support/eventually.js';
import { type Folder, temporaryFolder } from '../support/folder.js';
import { runHere } from '../support/in-process.js';
import { logOf, MCP_PEER, SDK_PEER } from '../support/mcp.js';
import { argv, ROOT, run, runShell, shellLine } from '../support/program.js';
import { transcriptIn } from '../support/recorder.js';

const BIN = `${ROOT}bin/protocol-cli.cjs`;

let folder: Folder;
let saved: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  saved = folder.file('run.ndjson');
});
afterEach(() => folder[Symbol.asyncDispose]());

/** The words that record a server; without `--save`, the server alone. */
const recording = (...server: string[]) => [
  BIN,
  ...argv`record --mcp stdio --save ${saved} -q -- ${process.execPath} ${server}`,
];

interface Version {
  readonly name: string;
  readonly mode: 'legacy' | { readonly pin: string };
  readonly server: readonly string[];
  /** Whether the client first starts another server, to ask for its versions. */
  readonly startsTwice: boolean;
}

const VERSIONS: readonly Version[] = [
  { name: '2025-11-25', mode: 'legacy', server: [SDK_PEER, '--both'], startsTwice: false },
  { name: '2026-07-28', mode: { pin: '2026-07-28' }, server: [SDK_PEER], startsTwice: true },
];

const isProgress = (message: unknown) => valueAt(message, 'method') === 'notifications/progress';

/** What the official client sees of a server that is started with these words. */
async function seenBy(words: readonly string[], mode: Version['mode']) {
  const client = new Client(
    { name: 'test', version: '1' },
    { capabilities: { elicitation: { form: {} } }, versionNegotiation: { mode } },
  );
  const forms: unknown[] = [];
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    forms.push(params);
    return { action: 'accept', content: { size: 'l' } };
  });
  const transport = new StdioClientTransport({ command: process.execPath, args: [...words] });
  await client.connect(transport);
  const messages: unknown[] = [];
  const { onmessage } = transport;
  transport.onmessage = message => {
    messages.push(message);
    onmessage?.(message);
  };
  const call = (name: string, args = {}) =>
    client.callTool({ name, arguments: args }, { onprogress: () => {} }) as Promise<CallToolResult>;
  const { tools } = await client.listTools();
  const echo = await call('echo', { text: 'hi {{id}} \u{1f600}' });
  const steps = await call('steps');
  const pick = await call('pick');
  const unknown = await call('missing').catch(String);
  const about = client.getServerVersion();
  await client.close();
  return { tools, echo, steps, pick, unknown, messages, forms, about };
}

describe.each(VERSIONS)('record --mcp stdio, the official client and an SDK server of $name', version => {
  test('the client sees the same as without; the calls are shown, served again, and not checked', async () => {
    const [through, direct] = await Promise.all([
      seenBy(recording(...version.server), version.mode),
      seenBy(version.server, version.mode),
    ]);
    expect(through).toEqual(direct);
    expect(through.messages.filter(isProgress)).toHaveLength(2);
    expect(through.forms).toHaveLength(1);
    const file = version.startsTwice ? folder.file('run-2.ndjson') : saved;
    const { header, events, faults } = await transcriptIn(file);
    expect({ observer: header?.observer, faults }).toEqual({ observer: 'recorder', faults: [] });
    expect(events).toContainEqual(
      expect.objectContaining({
        kind: 'loaded',
        toolset: 'sdk-peer',
        operations: through.tools.map(({ name }) => name),
      }),
    );
    const { stdout } = await runHere(argv`render ${file}`);
    expect(stdout).toMatch(/TRANSCRIPT of 4 calls/);
    expect(stdout).toMatch(/hi \{\{id\}\} \u{1f600}/u);
    expect(stdout).toMatch(/progress 1 of 2: step 1[\s\S]*progress 2 of 2: step 2[\s\S]*done/);
    expect(stdout).toMatch(/the tool asks: Which size\?[\s\S]*Large/);
    const served = [BIN, ...argv`mock-tool ${file} --mcp stdio -q`];
    const again = await seenBy(served, version.mode);
    const { echo, steps, pick } = through;
    const content = ({ content: blocks }: CallToolResult) => blocks;
    expect([again.echo, again.steps, again.pick].map(content)).toEqual([echo, steps, pick].map(content));
    expect(again.messages.filter(isProgress)).toEqual(through.messages.filter(isProgress));
    const checked = await runHere(argv`check ${file}`);
    expect(checked.status).toBe(3);
    expect(checked.stderr).toMatch(
      /^not checked: .* has calls over MCP, and the rules of check are those of RAP/,
    );
  });
});

/** A server that answers each line with a line, and ends with 7 at the end of its stdin. */
const UPPER = `
  process.stderr.write('a word of the server\\n');
  process.stdin.on('data', chunk => process.stdout.write(String(chunk).toUpperCase())).on('end', () => { process.exitCode = 7; });
`;

test('bytes are passed on as they are, whatever they are; the exit status and the stderr of the server are ours', async () => {
  const lines = ['', ' no JSON \u00e9\r', '{"jsonrpc":"2.0"}', `"${'x'.repeat(300_000)}"`, '{"half":'];
  const { status, stdout, stderr } = await run(
    argv`record --mcp stdio --save ${saved} --max-body 100k -- ${process.execPath} -e ${UPPER}`,
    { stdin: lines.join('\n') },
  );
  expect(status).toBe(7);
  expect(stdout).toBe(lines.join('\n').toUpperCase());
  expect(stderr).toContain('a word of the server\n');
  const { events } = await transcriptIn(saved);
  const warnings = events.flatMap(event => (event.kind === 'warned' ? [event.message] : []));
  expect(warnings.filter(each => each.startsWith('the client'))).toEqual([
    expect.stringMatching(/^the client sent what is not a message of JSON-RPC: " no JSON \u00e9/),
    'the client sent what is not a message of JSON-RPC: "{"jsonrpc":"2.0"}"',
    'the client sent more than 102400 bytes at once, which is not recorded',
    'the client ended within a line, which is not a message',
  ]);
  expect(warnings.filter(each => each.startsWith('the server'))).toHaveLength(4);
});

test('bytes that are not UTF-8 are passed on unchanged', async () => {
  const bytes = Buffer.from([0x22, 0xff, 0xfe, 0x00, 0x0a, 0xc3, 0x28, 0x0a]);
  const { bytes: out } = await run(argv`record --mcp stdio --save ${saved} -q -- cat`, { stdin: bytes });
  expect(out).toEqual(bytes);
});

test('a very long line arrives whole, and its call is recorded', async () => {
  const text = 'long '.repeat(2_000_000);
  const call = rpcCall(2, 'echo', { text });
  const stdin = `${JSON.stringify(INITIALIZE)}\n${JSON.stringify(call)}\n`;
  const { stdout } = await run(
    argv`record --mcp stdio --save ${saved} -q -- ${process.execPath} ${MCP_PEER}`,
    { stdin },
  );
  const answer = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
  expect(answer.result.content[0].text === text).toBe(true);
  const { events } = await transcriptIn(saved);
  const last = events.findLast(event => event.kind === 'response');
  expect(last?.kind === 'response' && last.body?.text?.includes(text)).toBe(true);
});

test('a server that writes a lot and ends at once: all of it arrives', async () => {
  const server = `process.stdout.write('x'.repeat(20e6) + '\\n'); process.exitCode = 5;`;
  const { status, bytes } = await run(
    argv`record --mcp stdio --save ${saved} -q -- ${process.execPath} -e ${server}`,
  );
  expect([status, bytes.length]).toEqual([5, 20_000_001]);
});

test('a full disk: every message is passed on, and the end says so', async () => {
  const calls = Array.from({ length: 50 }, (_, id) => rpcCall(id, 'op', { text: 'x'.repeat(1_000) }));
  const line = shellLine(argv`record --mcp stdio --save ${saved} -q -- cat`);
  const input = await folder.write('input', calls.map(call => `${JSON.stringify(call)}\n`).join(''));
  const { status, stdout, stderr } = await runShell(
    `trap '' XFSZ; ulimit -f 8; exec < '${input}'; exec ${line}`,
  );
  expect(stdout).toBe(await readFile(input, 'utf8'));
  expect(status).toBe(2);
  expect(stderr).toMatch(/^error: cannot write .*run\.ndjson: file too large/m);
});

test('a server that dies in the middle of a call: its status is ours, and the call has no answer', async () => {
  const { child, ended } = open(MCP_PEER, '--stubborn');
  for (const message of [INITIALIZE, rpcCall(2, 'chatter'), rpcCall(3, 'dies')])
    child.stdin.write(`${JSON.stringify(message)}\n`);
  const { status, stdout, stderr } = await ended;
  expect(status).toBe(3);
  expect(stdout).toContain('debug: this is not JSON-RPC\n\n');
  expect(stderr).toContain('the peer falls over\n');
  expect(stderr).toContain('! the server sent what is not a message of JSON-RPC: "debug: this is not');
  expect(stderr).toMatch(/→ tools\/call dies call-2 \(mcp\) {2}broken off: "?ENDED/);
  expect(stderr).toMatch(/\n2 calls: 1 with a result, 1 silent\. Next: protocol-cli render \S+run\.ndjson\n/);
  const shown = await runHere(argv`render ${saved}`);
  expect(shown.stdout).toContain('ENDED');
});

/** Starts it with a stdin that stays open. */
function open(...server: string[]) {
  const words = argv`record --mcp stdio --save ${saved} -- ${process.execPath} ${server}`;
  const child = spawn(process.execPath, [BIN, ...words], { stdio: 'pipe' });
  const [stdout, stderr] = [textOf(child.stdout), textOf(child.stderr)];
  const ended = once(child, 'close').then(([status]) => ({ status, stdout: stdout(), stderr: stderr() }));
  return { child, ended };
}

function textOf(stream: Readable): () => string {
  let text = '';
  stream.setEncoding('utf8').on('data', part => {
    text += part;
  });
  return () => text;
}

describe('its end', () => {
  const started = (log: string) =>
    eventually('the server runs', async () => (await logOf(log)).find(({ pid }) => pid)?.['pid']);

  test('the client closes stdin: the server ends as it likes', async () => {
    const log = folder.file('log');
    const { child, ended } = open(MCP_PEER, '--log', log);
    const pid = await started(log);
    child.stdin.end();
    expect((await ended).status).toBe(0);
    expect(isRunning(Number(pid))).toBe(false);
  });

  test('SIGTERM, and a server that ignores everything: it is killed, and its calls are recorded as open', async () => {
    const log = folder.file('log');
    const { child, ended } = open(MCP_PEER, '--log', log, '--stubborn');
    const pid = await started(log);
    child.stdin.write(`${JSON.stringify(rpcCall(1, 'slow'))}\n`);
    await eventually('the call is there', async () => (await readFile(saved, 'utf8')).includes('tools/call'));
    child.kill('SIGTERM');
    expect((await ended).status).toBe(137);
    expect(isRunning(Number(pid))).toBe(false);
    const { events, end } = await transcriptIn(saved);
    expect(events.at(-1)).toMatchObject({ kind: 'broken', code: 'ENDED', calls: ['call-1'] });
    expect(end).toBe('done');
  });

  test('a client that is gone ends the server', async () => {
    const log = folder.file('log');
    const { child, ended } = open(MCP_PEER, '--log', log);
    const pid = await started(log);
    child.stdout.destroy();
    child.stdin.write(`${JSON.stringify(rpcCall(1, 'silent'))}\n`);
    await ended;
    expect(isRunning(Number(pid))).toBe(false);
  });
});

describe('usage', () => {
  test.each([
    ['no command', argv`--mcp stdio --save x.ndjson`, 'needs the command of a server after --'],
    ['a URL beside it', argv`http://127.0.0.1:1 --mcp stdio --save x.ndjson -- cat`, 'nothing before it'],
    ['no file', argv`--mcp stdio -- cat`, 'no output for the recording'],
    ['-o ndjson', argv`--mcp stdio -o ndjson -- cat`, 'both write to stdout'],
    ['a port', argv`--mcp stdio --port 1 --save x.ndjson -- cat`, 'for a network server'],
    ['callbacks', argv`--mcp stdio --callback-url http://a --save x.ndjson -- cat`, 'for callbacks'],
    [
      'a command without it',
      argv`http://127.0.0.1:1 --save x.ndjson -- cat`,
      'give the URL of one tool server',
    ],
  ])('%s', async (_, words, message) => {
    const { status, stderr, stdout } = await runHere(['record', ...words]);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toContain(message);
  });

  test('a program that does not exist', async () => {
    const { status, stderr } = await runHere(
      argv`record --mcp stdio --save ${saved} -- ${folder.file('missing')}`,
    );
    expect(status).toBe(2);
    expect(stderr).toMatch(/did not start: program not found/);
  });
});

test('a file that exists stays, and another one is written beside it', async () => {
  const there = await folder.write('there.ndjson', 'mine');
  const words = argv`record --mcp stdio --save ${there} -- cat`;
  const [one, other] = await Promise.all([run(words), run(words)]);
  expect([one.stderr, other.stderr].map(text => /there\S+ndjson/.exec(text)?.[0]).toSorted()).toEqual([
    'there-2.ndjson',
    'there-3.ndjson',
  ]);
  expect(await readFile(there, 'utf8')).toBe('mine');
  for (const name of ['there-2.ndjson', 'there-3.ndjson'])
    expect(await transcriptIn(folder.file(name))).toMatchObject({ end: 'done', faults: [] });
});
