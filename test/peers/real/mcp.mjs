import { go, node, python, rust } from './kits.mjs';
import { tryCases, tryClient, tryRecordings, trySameName, withHttp } from './mcp-runs.mjs';

/**
 * SDKs of MCP: servers that are called by `invoke --mcp` over stdio and HTTP, clients of `mock-tool --mcp`, and both with `record --mcp`
 * between them.
 */

const ANSWERS_FORM = ['--choose', '{"colour":"red"}'];
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
  work: { text: 'done', structured: null, isError: false },
  ask: { text: 'accept: red', structured: null, isError: false },
  wrapped: {
    text: '{"content":[{"type":"text","text":"inner"}],"isError":false}',
    structured: null,
    isError: false,
  },
};
/** What the notifications of `work` are, for clients that print them. */
const NOTIFIED = ['progress 1 of 2: half', 'warning: almost'];

/** What a client gets that shows no forms. */
const CANCELED = { canceled: { reason: 'the form was canceled', by: 'user' } };
const FORMLESS = { ask: { text: JSON.stringify(CANCELED), structured: CANCELED, isError: true } };

/** What the clients of all SDKs call of the servers of their SDKs. */
const FORMLESS_CALLS = { greet: { name: 'Ada' }, sum: { a: 2, b: 3 }, fail: {} };
const SERVER_CALLS = { ...FORMLESS_CALLS, ask: {} };

/** A client of 2025-11-25 gets no `structuredContent` that is a list. */
const OLDER = { names: { ...CALLS.names, structured: null } };

/** What only the server of the Python SDK has. */
const PYTHON_CASES = [
  { words: ['work', '-o', 'plain'], status: 0, stdout: /progress 1 of 2: half/ },
  { words: ['pick', '--choose', 'default', ...HANDSHAKE], status: 0, stdout: /accept: green/ },
  {
    words: ['ask', ...HANDSHAKE],
    status: 6,
    stdout: /"canceled":\{.*"by":"system"/,
    stderr: /hint: Answer with --choose '\{"colour":"…"\}' \(fields: colour\), or with decline or cancel\./,
  },
  {
    words: ['ask', '--choose', 'default', ...HANDSHAKE],
    status: 6,
    stderr: /--choose default does not fit.*\n.*colour: is required\nhint: (?!.*default)/,
  },
  {
    words: ['sign_in', '-o', 'json'],
    status: 5,
    stdout:
      /"code": "-32042",[\s\S]*"url": "https:\/\/login\.example\/a"[\s\S]*capability elicitation\.url[\s\S]*must open https:\/\/login\.example\/a/,
  },
  {
    words: ['extend'],
    status: 5,
    stderr: /needs the client capability extensions\.com\.example\/maps, which/,
  },
  { words: ['note', '--dialect', 'rap'], status: 0, stdout: /"text": "remember the milk"/ },
  { words: ['regional', 'region=Zürich'], status: 0, stdout: /^Zürich\n?$/ },
  { words: ['wrapped'], status: 0, stdout: /^\{\s*"content": \[\s*\{[^{]*"inner"/ },
];

const SDKS = [
  {
    name: 'MCP Python SDK',
    kit: 'python',
    version: ['python/requirements.txt', 'mcp'],
    server: python('mcp_peers/server.py'),
    client: python('mcp_peers/client.py'),
    notified: NOTIFIED,
    unknown: { code: -32601, data: null },
    calls: { ...SERVER_CALLS, work: {}, note: {} },
    asRap: /"text": ?"remember the milk"/,
    cases: [CANNOT_ASK, ...PYTHON_CASES.map(each => ({ ...each, only: 'http' }))],
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
    notified: NOTIFIED,
    unknown: { code: -32601, data: null },
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
    gets: { ...FORMLESS, refuse: { raised: 'not today' } },
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
    notified: NOTIFIED,
    unknown: { code: -32601 },
    cases: [{ words: ['ask', ...ANSWERS_FORM], only: 'http', status: 0, stdout: /accept: red/ }],
  },
  {
    name: 'rmcp',
    kit: 'rust',
    version: ['rust/rmcp-peer/Cargo.toml', 'rmcp'],
    server: rust('rmcp-peer'),
    client: `${rust('rmcp-peer')} client`,
    calls: FORMLESS_CALLS,
    gets: { ...OLDER, ...FORMLESS },
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
    transports: ['http'],
    gets: { ...OLDER, ...FORMLESS },
    skips: ['work'],
    calls: { ...FORMLESS_CALLS, result: {} },
    common: [],
    notes:
      'a string keeps its quotes; its middleware sees payloads only; an error of a handler is -32603; a panic over stdio is never answered; its client ends a call at a log message (`notifications/message`)',
    cases: [
      { words: ['greet', 'name=Ada'], status: 0, stdout: /^"Hello, Ada"\n?$/ },
      {
        words: ['sum', 'a:=2', 'b:=3', '-o', 'json'],
        status: 0,
        stdout: /"structuredContent": \{\s*"sum": 5/,
      },
      { words: ['secret'], status: 0, stdout: /^\{"user":"ada"\}\n?$/ },
      { words: ['result'], status: 0, stdout: /^token t-123\n?$/ },
      { words: ['wrapped'], only: 'http', status: 0, stdout: /^\{"content":\[\{[^{]*"inner"/ },
      { words: ['fail', '-o', 'json'], status: 5, stdout: /"code": "-32603"/ },
      { words: ['reject', '-o', 'json'], status: 5, stdout: /"isError": true/ },
      { words: ['crash', '--timeout', '5s'], only: 'stdio', status: 7 },
      { words: ['crash'], only: 'http', status: 4, stderr: /the connection was lost during tools\/call/ },
    ],
  },
];

/** Small servers that show one thing. */
const OTHERS = [
  {
    name: 'MCP Python SDK, its types alone',
    kit: 'python',
    version: ['python/requirements.txt', 'mcp'],
    notes: 'a result that is printed with its nulls (`_meta: null`) is refused at once',
    run: () =>
      tryCases(python('mcp_peers/types_server.py'), [
        {
          words: ['greet', '--timeout', '0'],
          status: 5,
          stdout: /not a CallToolResult: \$\._meta: must be an object/,
        },
        {
          words: ['misfit'],
          status: 0,
          stderr: /warning: structuredContent does not match the outputSchema: \$\.sum must be/,
        },
      ]),
  },
  {
    name: 'MCP Python SDK, HTTP+SSE',
    kit: 'python',
    version: ['python/requirements.txt', 'mcp'],
    notes: 'this transport is not supported, and the hint says so',
    run: () =>
      withHttp({ server: python('mcp_peers/server.py'), mode: 'sse', path: '/sse' }, url =>
        tryCases(url, [
          { words: ['greet'], status: 4, stderr: /hint: .*HTTP\+SSE \(\/sse\) is not supported/ },
        ]),
      ),
  },
  {
    name: 'MCP Python SDK and FastMCP side by side',
    kit: 'python',
    version: ['python/requirements.txt', 'fastmcp'],
    notes: 'of two servers in `rap.json` with a tool of one name, `<server>_invoke_tool` calls either',
    run: () => {
      const servers = {
        python: python('mcp_peers/server.py'),
        fastmcp: python('mcp_peers/fastmcp_server.py'),
      };
      const args = JSON.stringify({ tool_name: 'greet', arguments: { name: 'Ada' } });
      return trySameName(servers, [
        {
          words: ['invoke', 'greet', 'name=Ada', '--yes'],
          status: 2,
          stderr: /"greet" is defined by 2 toolsets/,
        },
        {
          words: ['invoke', 'fastmcp_invoke_tool', '--args', args, '--yes'],
          status: 0,
          stdout: /^Hello, Ada\n?$/,
        },
      ]);
    },
  },
];

export const MCP_PEERS = [...SDKS.map(sdk => ({ ...sdk, run: () => trySdk(sdk) })), ...OTHERS];

async function trySdk(sdk) {
  const { server, client, common = CASES, cases, calls = SERVER_CALLS, transports = ['stdio', 'http'] } = sdk;
  const all = [...common, ...cases];
  await tryCases(`${server} stdio`, all, 'stdio');
  await withHttp(sdk, url => tryCases(url, all, 'http'));
  if (!client) return;
  await tryClient({ ...sdk, gets: { ...CALLS, ...sdk.gets } }, transports);
  await tryRecordings({ ...sdk, calls, transports });
}
