import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { go, inFolder, node, python, rust } from './kits.mjs';
import { PROGRAM, runProgram } from './verdict.mjs';

/** SDKs of MCP: servers that are called by `invoke --mcp` over stdio and HTTP, and clients of `mock-tool --mcp`. */

const TOOLS = inFolder('mcp/tools.yaml');
const ANSWERS_FORM = ['--choose', '{"colour":"red"}'];
const ANY = /(?:)/;
const HANDSHAKE = ['--mcp-version', '2025-11-25'];

/** What the servers of all SDKs answer: the words of a call, and what they show. `only` is the transport of a case. */
const CASES = [
  { words: ['greet', 'name=Ada'], status: 0, stdout: /^Hello, Ada\n?$/ },
  { words: ['sum', 'a:=2', 'b:=3', '-o', 'json'], status: 0, stdout: /"structuredContent": \{\s*"sum": 5/ },
  { words: ['fail'], status: 5, stdout: /disk full/ },
  { words: ['ask', ...ANSWERS_FORM, ...HANDSHAKE], status: 0, stdout: /accept: red/ },
];

/** Tools that ask by themselves cannot do so with the newest version. */
const CANNOT_ASK = {
  words: ['ask', ...ANSWERS_FORM],
  only: 'http',
  status: 5,
  stderr: /try --mcp-version 2025-11-25/,
};

/** What the clients of all SDKs get; a client may leave some of it out. */
const CALLS = {
  greet: { text: 'Hello, Ada', structured: null, isError: false },
  sum: { text: '{"sum":5}', structured: { sum: 5 }, isError: false },
  names: { text: '["ada","grace"]', structured: ['ada', 'grace'], isError: false },
  fail: { text: 'disk full', structured: null, isError: true },
  refuse: { code: -32050, data: { until: 'tomorrow' } },
  regional: { text: 'Zürich', structured: null, isError: false },
};

/** A client of 2025-11-25 gets no `structuredContent` that is a list. */
const OLDER = { names: { ...CALLS.names, structured: null } };

const SDKS = [
  {
    name: 'MCP Python SDK',
    kit: 'python',
    version: ['python/requirements.txt', 'mcp'],
    server: python('mcp_peers/server.py'),
    client: python('mcp_peers/client.py'),
    cases: [CANNOT_ASK],
    notes: 'a tool asks by itself (`ctx.elicit`) only with 2025-11-25 and older',
  },
  {
    name: 'FastMCP',
    kit: 'python',
    version: ['python/requirements.txt', 'fastmcp'],
    server: python('mcp_peers/fastmcp_server.py'),
    notes: 'a tool asks by itself (`ctx.elicit`) only with 2025-11-25 and older',
    cases: [CANNOT_ASK],
  },
  {
    name: 'MCP Go SDK',
    kit: 'go',
    version: ['go/go.mod', 'github.com/modelcontextprotocol/go-sdk'],
    server: go('gosdk'),
    client: `${go('gosdk')} client`,
    cases: [
      { command: ['toolset'], only: 'http', status: 0, stdout: /greet[\s\S]*name\s+required\s+string/ },
      { words: ['ask', ...ANSWERS_FORM], only: 'http', status: 0, stdout: /accept: red/ },
      { words: ['refuse', '-o', 'json'], status: 5, stdout: /"code": "-32050",[\s\S]*"until": "tomorrow"/ },
      {
        words: ['crash'],
        only: 'stdio',
        status: 4,
        stderr: /the connection was lost during tools\/call[\s\S]*panic: the peer falls over/,
      },
    ],
    notes: 'its default HTTP handler serves 2025-11-25 and older; a panic ends a server over stdio',
  },
  {
    name: 'mcp-go',
    kit: 'go',
    version: ['go/go.mod', 'github.com/mark3labs/mcp-go'],
    server: go('mcpgo'),
    client: `${go('mcpgo')} client`,
    gets: { refuse: { raised: 'not today' } },
    notes:
      'an error of a handler is the JSON-RPC error -32603; a tool is destructive unless it says otherwise; tools ask by themselves only with 2025-11-25 and older',
    cases: [{ words: ['fail', '-o', 'json'], status: 5, stdout: /"code": "-32603"/ }, CANNOT_ASK],
  },
  {
    name: 'MCP TypeScript SDK, version 1',
    kit: 'node',
    version: ['node/package.json', '@modelcontextprotocol/sdk'],
    server: node('mcp/sdk-v1.mjs'),
    client: `${node('mcp/sdk-v1.mjs')} client`,
    gets: OLDER,
    cases: [{ words: ['ask', ...ANSWERS_FORM], only: 'http', status: 0, stdout: /accept: red/ }],
  },
  {
    name: 'rmcp',
    kit: 'rust',
    version: ['rust/rmcp-peer/Cargo.toml', 'rmcp'],
    server: rust('rmcp-peer'),
    client: `${rust('rmcp-peer')} client`,
    gets: OLDER,
    notes: 'tools ask by themselves only with 2025-11-25 and older, which its client speaks',
    cases: [CANNOT_ASK, { words: ['refuse', '-o', 'json'], status: 5, stdout: /"until": "tomorrow"/ }],
  },
  {
    name: 'pmcp',
    kit: 'rust',
    version: ['rust/pmcp-peer/Cargo.toml', 'pmcp'],
    server: rust('pmcp-peer'),
    path: '/',
    client: `${rust('pmcp-peer')} client`,
    clientOver: ['http'],
    gets: OLDER,
    common: [],
    notes:
      'a string keeps its quotes; its middleware sees payloads only; an error of a handler is -32603; a panic over stdio is never answered',
    cases: [
      { words: ['greet', 'name=Ada'], status: 0, stdout: /^"Hello, Ada"\n?$/ },
      {
        words: ['sum', 'a:=2', 'b:=3', '-o', 'json'],
        status: 0,
        stdout: /"structuredContent": \{\s*"sum": 5/,
      },
      { words: ['secret'], status: 0, stdout: /^\{"user":"ada"\}\n?$/ },
      { words: ['result'], status: 0, stdout: /^token t-123\n?$/ },
      { words: ['fail', '-o', 'json'], status: 5, stdout: /"code": "-32603"/ },
      { words: ['reject', '-o', 'json'], status: 5, stdout: /"isError": true/ },
      { words: ['crash', '--timeout', '5s'], only: 'stdio', status: 7 },
      { words: ['crash'], only: 'http', status: 4, stderr: /the connection was lost during tools\/call/ },
    ],
  },
];

/** Small servers that show one thing. */
const SERVERS = [
  {
    name: 'MCP Python SDK, its types alone',
    kit: 'python',
    version: ['python/requirements.txt', 'mcp'],
    notes: 'a result that is printed with its nulls (`_meta: null`) is refused at once',
    server: python('mcp_peers/types_server.py'),
    cases: [
      {
        words: ['greet', '--timeout', '0'],
        status: 5,
        stdout: /not a CallToolResult: \$\._meta: must be an object/,
      },
    ],
  },
];

export const MCP_PEERS = [
  ...SDKS.map(sdk => ({ ...sdk, run: () => trySdk(sdk) })),
  ...SERVERS.map(({ server, cases, ...peer }) => ({ ...peer, run: () => tryServer(server, cases) })),
];

async function trySdk({ server, path = '/mcp', client, clientOver, common = CASES, cases, gets = {} }) {
  const all = [...common, ...cases];
  await tryServer(
    `${server} stdio`,
    all.filter(({ only = 'stdio' }) => only === 'stdio'),
  );
  const http = await startHttp(`${server} http`, path);
  try {
    await tryServer(
      http.url,
      all.filter(({ only = 'http' }) => only === 'http'),
    );
  } finally {
    http.stop();
  }
  if (client) await tryClient(client, { ...CALLS, ...gets }, clientOver);
}

async function tryServer(server, cases) {
  for (const { command = ['invoke', '--yes'], words = [], status, stdout = ANY, stderr = ANY } of cases) {
    const got = await runProgram([...command, '--mcp', server, ...words]);
    const why = `"${[...command, ...words].join(' ')}" of ${server}\n${got.stdout}${got.stderr}`;
    assert.equal(got.status, status, why);
    assert.match(got.stdout, stdout, why);
    assert.match(got.stderr, stderr, why);
  }
}

async function tryClient(client, calls, transports = ['stdio', 'http']) {
  const args = JSON.stringify(await callsToMake());
  const mock = ['mock-tool', TOOLS, '--mcp'];
  const direct = [process.execPath, PROGRAM, ...mock, 'stdio', '-q'].map(word => `'${word}'`).join(' ');
  const runs = {
    stdio: () => runShell(`${client} '${args}' ${direct}`),
    http: () => runProgram([...mock, 'http', '-q', '--', 'sh', '-c', `${client} '${args}' "$MCP_URL"`]),
  };
  for (const transport of transports) {
    const { stdout, stderr } = await runs[transport]();
    const line = stdout.split('\n').find(each => each.startsWith('{"version"'));
    assert.ok(line, `${client} over ${transport} printed nothing\n${stdout}${stderr}`);
    const got = JSON.parse(line);
    assert.deepEqual(got.calls, calls, `${client} over ${transport}\n${stderr}`);
    assert.deepEqual(got.tools.sort(), Object.keys(CALLS).sort());
  }
}

const callsToMake = async () => JSON.parse(await readFile(inFolder('mcp/calls.json'), 'utf8'));

async function runShell(command) {
  const child = spawn('sh', ['-c', command], { stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr] = await Promise.all([child.stdout, child.stderr].map(textOf));
  return { stdout, stderr };
}

async function textOf(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

/** A server that prints `{"port":N}`. */
async function startHttp(command, path) {
  const child = spawn('sh', ['-c', `exec ${command}`], { stdio: ['ignore', 'pipe', 'ignore'] });
  for await (const line of createInterface({ input: child.stdout })) {
    child.stdout.resume();
    return { url: `http://127.0.0.1:${JSON.parse(line).port}${path}`, stop: () => child.kill('SIGKILL') };
  }
  throw new Error(`${command} printed no port`);
}
