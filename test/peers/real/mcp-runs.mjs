import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { inFolder } from './kits.mjs';
import { PROGRAM, runProgram } from './verdict.mjs';

/** What is done with the servers and clients of MCP's SDKs. A server or client is a command for a shell. */

const TOOLS = inFolder('mcp/tools.yaml');
const ANY = /(?:)/;
/** Far longer than a client needs, also on a busy machine. */
const CLIENT_MS = 5 * 60_000;

const quoted = words => words.map(word => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
const program = (...args) => quoted([process.execPath, PROGRAM, ...args]);

/** @param server the words before its transport; with a `path` over HTTP */
export async function withHttp({ server, path = '/mcp', mode = 'http' }, use) {
  const { port, stop } = await startServer(`exec ${server} ${mode}`);
  try {
    await use(`http://127.0.0.1:${port}${path}`);
  } finally {
    await stop();
  }
}

/** A server that prints `{"port":N}`, with what else is in this line. */
async function startServer(command) {
  const child = spawn('sh', ['-c', command], { stdio: ['ignore', 'pipe', 'ignore'] });
  const exited = new Promise(resolve => child.once('exit', resolve));
  const stop = () => {
    child.kill('SIGTERM');
    const force = setTimeout(() => child.kill('SIGKILL'), 5000);
    return exited.finally(() => clearTimeout(force));
  };
  for await (const line of createInterface({ input: child.stdout })) {
    child.stdout.resume();
    return { ...JSON.parse(line), stop };
  }
  throw new Error(`${command} printed no port`);
}

/** Tries the cases that are not for another transport. @param server a URL or a command */
export async function tryCases(server, cases, transport) {
  for (const { command = ['invoke', '--yes'], words = [], only = transport, ...expected } of cases)
    if (only === transport) await expectRun([...command, '--mcp', server, ...words], expected);
}

export async function expectRun(args, { status, stdout = ANY, stderr = ANY }, options = {}) {
  const got = await runProgram(args, options);
  const why = `${args.join(' ')}\n${got.stdout}${got.stderr}`;
  assert.equal(got.status, status, why);
  assert.match(got.stdout, stdout, why);
  assert.match(got.stderr, stderr, why);
}

/** What a client gets from `mock-tool` with our fixtures. @param skips names of calls that it does not make */
export async function tryClient({ client, gets, notified = [], unknown, skips = [] }, transports) {
  const all = Object.entries(JSON.parse(await readFile(inFolder('mcp/calls.json'), 'utf8')));
  const made = Object.fromEntries(all.filter(([name]) => !skips.includes(name)));
  const expected = Object.fromEntries(Object.entries(gets).filter(([name]) => !skips.includes(name)));
  for (const transport of transports) {
    const got = await calledFromMock(TOOLS, client, made, transport);
    assert.deepEqual(got.calls, expected, `${client} over ${transport}`);
    assert.deepEqual(got.tools.sort(), all.map(([name]) => name).sort());
    assert.deepEqual([got.notified ?? [], got.unknown], [notified, unknown]);
  }
}

/** What a client gets when it makes calls of a mock. */
async function calledFromMock(file, client, calls, transport) {
  const mock = ['mock-tool', file, '--mcp'];
  const run = `${client} ${quoted([JSON.stringify(calls)])}`;
  if (transport === 'stdio') return called(`${run} ${program(...mock, 'stdio', '-q')}`);
  return called(`${program(...mock, 'http', '-q')} -- sh -c ${quoted([`${run} "$MCP_URL"`])}`);
}

/** The line that a client prints. */
async function called(command) {
  const { stdout, stderr } = await new Promise(resolve =>
    execFile('sh', ['-c', command], { timeout: CLIENT_MS }, (_, stdout, stderr) =>
      resolve({ stdout, stderr }),
    ),
  );
  const line = stdout.split('\n').find(each => each.startsWith('{"version"'));
  assert.ok(line, `${command} printed nothing\n${stdout}${stderr}`);
  return JSON.parse(line);
}

/**
 * What a client gets from the SDK's own server through `record --mcp`, it gets again from `mock-tool` with the transcript. The same
 * with a call of ours that was saved. @param asRap what the transcript has as RAP
 */
export async function tryRecordings({ server, path, client, calls, transports, asRap = ANY }) {
  await inTemporary(async folder => {
    const inFile = name => join(folder, `${name}.ndjson`);
    const expectAgain = async (name, transport, first, made) => {
      const again = await calledFromMock(inFile(name), client, made, transport);
      assert.deepEqual(shown(again), shown(first), `the ${name} recording of ${server}`);
    };
    const run = `${client} ${quoted([JSON.stringify(calls)])}`;
    if (transports.includes('stdio')) {
      const recorder = program('record', '--mcp', 'stdio', '-q', '--save', inFile('stdio'), '--');
      const first = await called(`${run} ${recorder} sh -c ${quoted([`exec ${server} stdio`])}`);
      await expectAgain('stdio', 'stdio', first, calls);
    }
    await withHttp({ server, path }, async url => {
      const recorder = await startServer(`exec ${program('record', '--mcp', url, '--save', inFile('http'))}`);
      const first = await called(`${run} ${quoted([recorder.url])}`).finally(recorder.stop);
      await expectAgain('http', 'http', first, calls);
      await expectRun(['invoke', '--mcp', url, 'greet', 'name=Ada', '--yes', '--save', inFile('saved')], {
        status: 0,
      });
      const { greet } = first.calls;
      await expectAgain(
        'saved',
        'http',
        { ...first, calls: { greet }, notified: [] },
        { greet: calls.greet },
      );
    });
    await expectRun(['render', inFile('http'), '--as', 'rap'], { status: 0, stdout: asRap });
    const isOfRap = /^not checked: .* the rules of check are those of RAP\. .*\n$/;
    await expectRun(['check', inFile('saved')], { status: 3, stderr: isOfRap });
  });
}

/** What a recording keeps of a client's answers; some SDKs add metadata to texts, which clients do not print. */
function shown({ tools, calls, notified = [] }) {
  return { tools: [...tools].sort(), calls, notified };
}

/** Two servers with a tool of one name, as entries of `rap.json`. */
export async function trySameName(servers, cases) {
  await inTemporary(async folder => {
    const entries = Object.entries(servers).map(([name, server]) => ({
      type: 'mcp_server',
      name,
      command: ['sh', '-c', `exec ${server} stdio`],
    }));
    await mkdir(join(folder, '.infinity'));
    await writeFile(join(folder, '.infinity/rap.json'), JSON.stringify({ tool_sets: entries }));
    for (const { words, ...expected } of cases) await expectRun(words, expected, { cwd: folder });
  });
}

async function inTemporary(use) {
  const folder = await mkdtemp(join(tmpdir(), 'protocol-cli-peers-'));
  try {
    await use(folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}
