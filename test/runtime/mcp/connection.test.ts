import { describe, expect, test } from 'vitest';
import { createLog } from '../../../src/events/log.js';
import { connectMcp } from '../../../src/runtime/mcp/connection.js';
import type { McpPeer } from '../../../src/runtime/mcp/link.js';
import { LIMITS } from '../../../src/util/limits.js';
import { errorOf } from '../../support/failing.js';
import { type Reply, startServing } from '../../support/serving.js';

const INITIALIZED = {
  protocolVersion: '2025-06-18',
  capabilities: { tools: {} },
  serverInfo: { name: 'test', version: '1' },
};

/** Answers the JSON-RPC requests of an older protocol version. */
function answering(answers: Readonly<Record<string, (params: Record<string, unknown>) => object>>): Reply {
  return (response, { body }) => {
    const { id, method = '', params = {} } = JSON.parse(body || '{}');
    const known: Record<string, (params: Record<string, unknown>) => object> = {
      initialize: () => INITIALIZED,
      ...answers,
    };
    const result = known[method]?.(params);
    const answer = result ? { result } : { error: { code: -32601, message: 'Method not found' } };
    if (id === undefined) response.writeHead(202).end();
    else
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
  };
}

type Use = (server: Awaited<ReturnType<typeof connectMcp>>) => Promise<void>;

/** Returns the server after its connection was closed. */
async function connected(
  peer: McpPeer,
  { limitMs = 60_000, log = createLog(() => 0) } = {},
  use: Use = async () => {},
) {
  const stops: (() => Promise<void>)[] = [];
  const onStop = (stop: () => Promise<void>) => void stops.push(stop);
  const options = { version: '1', log, maxBytes: 10_000_000, limitMs, onStop };
  try {
    const server = await connectMcp(peer, options);
    await use(server);
    return server;
  } finally {
    await Promise.all(stops.map(stop => stop()));
  }
}

async function connectedTo(reply: Reply, use?: Use) {
  await using server = await startServing(reply);
  return await connected({ kind: 'http', name: server.url }, {}, use);
}

const tool = (name: unknown, more = {}) => ({ name, inputSchema: { type: 'object' }, ...more });
const listing = (pageOf: (cursor: unknown) => object) =>
  answering({ 'tools/list': ({ cursor }) => pageOf(cursor) });

describe('the list of tools', () => {
  test('hints become annotations; destructive has no meaning for a read-only tool', async () => {
    const destructiveHint = true;
    const tools = [
      tool('erase', { annotations: { destructiveHint, idempotentHint: true } }),
      tool('read', { annotations: { destructiveHint, readOnlyHint: true } }),
    ];
    const server = await connectedTo(listing(() => ({ tools })));
    expect(server.tools.map(({ annotations }) => annotations)).toEqual([
      { destructive: true, idempotent: true },
      { readOnly: true },
    ]);
  });

  test('reads all pages', async () => {
    const pages = (cursor: unknown) =>
      cursor === '2' ? { tools: [tool('b')], nextCursor: '' } : { tools: [tool('a')], nextCursor: '2' };
    const server = await connectedTo(listing(pages));
    expect([server.tools.map(({ name }) => name), server.notes()]).toEqual([['a', 'b'], []]);
  });

  test('a repeated cursor, or pages without end, are reported as a note', async () => {
    const again = await connectedTo(listing(() => ({ tools: [], nextCursor: 'x' })));
    expect(again.notes()).toEqual(['the list of tools does not end; stopped after 2 pages with 0 tools']);
    let page = 0;
    const endless = await connectedTo(
      listing(() => ({ tools: [tool(`t${page}`)], nextCursor: `${page++}` })),
    );
    const { pages, mcpTools } = LIMITS;
    expect(endless.notes()).toEqual([
      `the list of tools does not end; stopped after ${pages.value} pages with ${pages.value} tools`,
    ]);
    const tools = Array.from({ length: mcpTools.value + 1 }, (_, index) => tool(`t${index}`));
    const large = await connectedTo(listing(() => ({ tools, nextCursor: 'more' })));
    expect(large.notes()).toEqual([
      `the list of tools does not end; stopped after 1 pages with ${tools.length} tools`,
    ]);
  });

  test('an invalid tool and a duplicate name are notes; only the first notes are shown', async () => {
    const bad = Array.from({ length: 9 }, () => ({ name: 'bad' }));
    const tools = [tool('a'), tool('a'), ...bad, { name: { toString: 1 } }];
    const server = await connectedTo(listing(() => ({ tools })));
    expect(server.tools).toHaveLength(1);
    expect(server.notes()[0]).toBe('the tool "a" is listed twice; using the first');
    expect(server.notes()[1]).toBe('the tool "bad" cannot be used: $.inputSchema: is required');
    expect(server.notes().at(-1)).toBe('6 more problems in the list of tools');
  });
});

/** The fields of a result that newer versions require. */
const FRESH = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' };

test('a call fails if its tool asks for input without end', async () => {
  const ask = {
    method: 'elicitation/create',
    params: { message: '?', requestedSchema: { type: 'object', properties: {} } },
  };
  const reply = answering({
    'server/discover': () => ({
      ...FRESH,
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {} },
    }),
    'tools/list': () => ({ ...FRESH, tools: [tool('a')] }),
    'tools/call': () => ({ resultType: 'input_required', inputRequests: { ask } }),
  });
  let count = 0;
  const elicit = async () => ({ action: 'decline', count: ++count });
  const { signal } = new AbortController();
  let error = '';
  await connectedTo(reply, async server => {
    error = await server.callTool({ name: 'a', arguments: {} }, { signal }, elicit).then(String, String);
  });
  expect(error).toContain(`after ${LIMITS.mcpRounds.value} rounds`);
  expect(count).toBe(LIMITS.mcpRounds.value);
});

describe('why a server cannot be used', () => {
  test.each<[string, Reply, string, RegExp]>([
    ['a JSON-RPC error', answering({}), 'no-discovery', /refused tools\/list .* -32601/],
    ['a status', 401, 'no-discovery', /answered server\/discover with 401/],
    ['another status', 500, 'no-discovery', /answered initialize with 500/],
    ['no answer', 'reset', 'unreachable', /./],
    [
      'an invalid page',
      listing(() => ({ tools: 'all' })),
      'unreachable',
      /not valid MCP: .*must be an array/,
    ],
  ])('%s', async (_, reply, code, message) => {
    const error = await errorOf(() => connectedTo(reply));
    expect([error.code, error.message]).toEqual([code, expect.stringMatching(message)]);
    expect(error.hint).toBeTruthy();
  });

  test('makes control characters in foreign text visible', async () => {
    const { faults } = await errorOf(() =>
      connectedTo(response => response.writeHead(500).end('not\u001b[31m you')),
    );
    expect(faults.join()).toContain('you');
    expect(faults.join()).not.toContain('\u001b');
  });

  test('a command that does not answer: reports the time limit, its stdout and its stderr', async () => {
    const name = 'echo Hello; echo there; echo why >&2; exec sleep 100';
    const { message, faults } = await errorOf(() => connected({ kind: 'stdio', name }, { limitMs: 2_000 }));
    expect(message).toContain('initialize timed out after 2s');
    expect(faults).toEqual(['it wrote 2 lines that are not JSON-RPC messages to its stdout: "Hello"', 'why']);
  });
});

test.each([
  ['TOKEN=abc npx server --key k', 'stdio:npx'],
  ["'/usr/bin/node' server.mjs", 'stdio:node'],
  ['$(evil) x', 'stdio:'],
])(
  'a transcript has only the program of the command %s: its arguments can be secrets',
  async (name, endpoint) => {
    const urls = new Set<string>();
    const log = createLog(() => 0);
    log.subscribe(event => event.kind === 'request' && urls.add(event.url));
    await errorOf(() => connected({ kind: 'stdio', name }, { limitMs: 1, log }));
    expect([...urls]).toEqual([endpoint]);
  },
);
