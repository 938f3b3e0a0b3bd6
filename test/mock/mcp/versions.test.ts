import { describe, expect, test } from 'vitest';
import { eventsOfKind } from '../local/local-tool.js';
import { replying } from '../start-mock.js';
import { ERAS, INITIALIZE, resultOf, rpcCall, type StartedMcpMock, startMcpMock } from './start-mcp-mock.js';

const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
};

/** Sends a request of version 2026-07-28. */
function send(
  mock: StartedMcpMock,
  method: string,
  params: object = {},
  headers: Record<string, string> = {},
) {
  const { name } = params as { name?: string };
  const message = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: ENVELOPE } };
  const routing = {
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(name && { 'mcp-name': name }),
  };
  return mock.post(message, { ...routing, ...headers });
}

const LIST = { type: 'array', items: { type: 'integer' } };
const OBJECT = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] };

const toolset = (outputSchema: object) => ({
  name: 't',
  tools: [{ name: 'op', description: 'o', inputSchema: { type: 'object' }, outputSchema }],
});

describe('versions', () => {
  test('server/discover lists every version that is served', async () => {
    await using mock = await startMcpMock(replying({ payload: 1 }));
    const answer = await send(mock, 'server/discover');
    expect(await answer.json()).toMatchObject({
      result: { supportedVersions: expect.arrayContaining(['2026-07-28', '2025-11-25', '2024-11-05']) },
    });
  });

  test('an unknown method is answered with 404 and -32601', async () => {
    await using mock = await startMcpMock(replying({ payload: 1 }));
    const answer = await send(mock, 'resources/list');
    expect([answer.status, await answer.json()]).toMatchObject([404, { error: { code: -32601 } }]);
  });

  test('GET is answered with 405 and JSON', async () => {
    await using mock = await startMcpMock(replying({ payload: 1 }));
    const { status, headers } = await fetch(mock.url);
    expect([status, headers.get('content-type'), headers.get('allow')]).toEqual([
      405,
      'application/json',
      'POST, DELETE',
    ]);
  });

  test.each([
    ['its own origin', (url: string) => new URL(url).origin, 200],
    ['another port', () => 'http://localhost:1', 403],
    ['another site', () => 'http://evil.example', 403],
  ])('a page of %s', async (_, origin, status) => {
    await using mock = await startMcpMock(replying({ payload: 1 }));
    expect((await mock.post(INITIALIZE, { origin: origin(mock.url) })).status).toBe(status);
  });
});

describe.each(ERAS)('outputSchema for a client that is %s', era => {
  test('is served unchanged, and a payload fills structuredContent', async () => {
    await using mock = await startMcpMock({ ...replying({ payload: { n: 1 } }), toolset: toolset(OBJECT) });
    const client = await mock.client(era);
    expect((await client.listTools()).tools[0]?.outputSchema).toEqual(OBJECT);
    expect(await resultOf(client)).toMatchObject({
      content: [{ text: '{"n":1}' }],
      structuredContent: { n: 1 },
    });
    expect(eventsOfKind(mock.mcp.tool, 'warned')).toEqual([]);
  });

  test('a result that breaks or misses it is sent with a warning', async () => {
    const replies = [
      { payload: { n: 'x' } },
      { result: { content: [{ type: 'text', text: 'x' }] } },
      { error: { message: 'no' } },
    ];
    const fixtures = [{ match: { operation: 'op' }, sequence: replies }];
    await using mock = await startMcpMock({ fixtures, toolset: toolset(OBJECT) });
    const client = await mock.client(era);
    for (const _ of replies) await client.request({ method: 'tools/call', params: { name: 'op' } });
    expect(eventsOfKind(mock.mcp.tool, 'warned').map(({ message }) => message)).toEqual([
      'structuredContent does not match the outputSchema: $.n must be integer (type)',
      'the tool has an outputSchema, but its result has no structuredContent',
    ]);
  });

  test('that describes a list is left out for older versions', async () => {
    await using mock = await startMcpMock({ ...replying({ payload: [1] }), toolset: toolset(LIST) });
    const client = await mock.client(era);
    const isModern = era === 'modern';
    expect((await client.listTools()).tools[0]?.outputSchema).toEqual(isModern ? LIST : undefined);
    expect((await resultOf(client)).structuredContent).toEqual(isModern ? [1] : undefined);
  });
});

test('headers that do not mirror an annotated argument are refused with 400 and -32020', async () => {
  const inputSchema = {
    type: 'object',
    properties: {
      region: { type: 'string', 'x-mcp-header': 'Region' },
      n: { type: 'integer', 'x-mcp-header': 'N' },
    },
  };
  await using mock = await startMcpMock({
    ...replying({ payload: 'ok' }),
    toolset: { name: 't', tools: [{ name: 'op', description: 'o', inputSchema }] },
  });
  const call = (args: object, headers: Record<string, string> = {}) =>
    send(mock, 'tools/call', { name: 'op', arguments: args }, headers);
  const refused = [
    await call({ region: 'eu' }),
    await call({ region: 'eu' }, { 'mcp-param-region': 'us' }),
    await call({ region: 'eu' }, { 'mcp-param-region': '=?base64?!?=' }),
  ];
  for (const answer of refused)
    expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: -32020 } }]);
  const served = [
    await call(
      { region: 'Zürich', n: 1 },
      { 'mcp-param-region': '=?base64?WsO8cmljaA==?=', 'mcp-param-n': '1.0' },
    ),
    await call({ region: null }),
    await call({}),
  ];
  expect(served.map(({ status }) => status)).toEqual([200, 200, 200]);
});

test('a result that is an error of JSON-RPC is sent as one', async () => {
  const error = { code: -32603, message: 'no disk', data: { left: 0 } };
  await using mock = await startMcpMock(replying({ result: { error } }));
  const session = (await mock.post(INITIALIZE)).headers.get('mcp-session-id') ?? '';
  const answer = await mock.post(rpcCall(2), { 'mcp-session-id': session });
  expect(await answer.json()).toEqual({ jsonrpc: '2.0', id: 2, error });
  expect(eventsOfKind(mock.mcp.tool, 'warned')).toEqual([]);
});

test('a payload that is a result already is wrapped with a warning', async () => {
  await using mock = await startMcpMock(replying({ payload: { content: [{ type: 'text', text: 'x' }] } }));
  await resultOf(await mock.client());
  expect(eventsOfKind(mock.mcp.tool, 'warned')).toMatchObject([
    { message: expect.stringContaining('a payload already is a result of MCP') },
  ]);
});
