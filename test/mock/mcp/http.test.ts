import { describe, expect, test } from 'vitest';
import { eventually } from '../../e2e/support/eventually.js';
import { eventsOfKind } from '../local/local-tool.js';
import { replying, replyingEach } from '../start-mock.js';
import { ERAS, INITIALIZE, resultOf, rpcCall, startMcpMock } from './start-mcp-mock.js';

const SECRET = { token: 'abcd1234' };
const text = (words: string) => [{ type: 'text', text: words }];

const ANSWERS: readonly (readonly [what: string, reply: object, expected: object])[] = [
  ['a text', { payload: 'done' }, { content: text('done'), isError: false }],
  [
    'JSON, redacted first',
    { payload: { a: [1], ...SECRET } },
    { content: text('{"a":[1],"token":"[redacted]"}'), isError: false },
  ],
  [
    'JSON that looks like a result',
    { payload: { content: [], isError: true } },
    { content: text('{"content":[],"isError":true}'), isError: false },
  ],
  [
    'a result: only isError is added',
    { result: { content: text('abcd1234'), ...SECRET } },
    { content: text('abcd1234'), isError: false, ...SECRET },
  ],
  [
    'a result with all fields',
    { result: { content: text('no'), isError: true, structuredContent: { a: 1 }, _meta: { own: 1 } } },
    { content: text('no'), isError: true, structuredContent: { a: 1 }, _meta: { own: 1 } },
  ],
  [
    'a result of RAP: its text',
    { result: { text: 'done', display_as: [{ type: 'text', content: 'seen' }] } },
    { content: text('done'), isError: false },
  ],
  [
    'an error of RAP, by convention',
    { result: { text: 'Error: no' } },
    { content: text('no'), isError: true },
  ],
  ['an error', { error: { message: 'no' } }, { content: text('no'), isError: true }],
  [
    'an error with its code',
    { error: { message: 'no {{count}}', code: 'C', type: 'T' } },
    {
      content: text('no 1'),
      isError: true,
      structuredContent: { error: { message: 'no 1', code: 'C', type: 'T' } },
    },
  ],
  [
    'denied',
    { denied: { tool: 'op', reason: 'no' } },
    {
      content: text('{"denied":{"tool":"op","reason":"no"}}'),
      isError: true,
      structuredContent: { denied: { tool: 'op', reason: 'no' } },
    },
  ],
  [
    'a timeout',
    { timeout: { durationMs: 5 } },
    {
      content: text('{"timeout":{"durationMs":5}}'),
      isError: true,
      structuredContent: { timeout: { durationMs: 5 } },
    },
  ],
];

describe.each(ERAS)('seed 003, over HTTP, for a client that is %s', era => {
  test('tools/list: the schema is an object, annotations become hints', async () => {
    const tools = [
      {
        name: 'op',
        description: 'Does it',
        inputSchema: { properties: { n: { type: 'integer' } }, required: ['n'] },
        annotations: { readOnly: true, destructive: false, idempotent: true, longRunning: true },
      },
      { name: 'po', description: 'Undoes it', inputSchema: { type: ['object', 'null'] } },
    ];
    const fixtures = [{ match: { operation: 'op' }, reply: { payload: 1 } }];
    await using mock = await startMcpMock({
      toolset: { name: 'shop', description: 'A shop', tools },
      fixtures,
    });
    const client = await mock.client(era);
    expect(client.getServerVersion()).toEqual({ name: 'shop', version: '0' });
    expect(client.getInstructions()).toBe('A shop');
    expect((await client.listTools()).tools).toEqual([
      {
        name: 'op',
        description: 'Does it',
        inputSchema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
        annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
      },
      { name: 'po', description: 'Undoes it', inputSchema: { type: 'object' } },
    ]);
  });

  test('every kind of answer', async () => {
    await using mock = await startMcpMock(replyingEach(ANSWERS.map(([, reply]) => reply)));
    const client = await mock.client(era);
    for (const [n, [what, , expected]] of ANSWERS.entries()) {
      const { _meta: { 'io.modelcontextprotocol/serverInfo': _stamp, ...meta } = {}, ...given } =
        await resultOf(client, {}, `op${n}`);
      const sent = { ...given, ...(Object.keys(meta).length > 0 && { _meta: meta }) };
      expect([what, sent]).toEqual([what, expected]);
    }
  });

  test('a call that violates the schema gets a result; an unknown tool gets a protocol error', async () => {
    const tools = [{ name: 'op', description: 'o', inputSchema: { properties: { n: { type: 'integer' } } } }];
    const fixtures = [{ match: { operation: 'op' }, reply: { payload: 1 } }];
    await using mock = await startMcpMock({ toolset: { name: 't', tools }, fixtures });
    const client = await mock.client(era);
    expect(await resultOf(client, { n: 'x' })).toMatchObject({
      isError: true,
      content: [{ text: 'invalid arguments: $.n must be integer (type). Correct them and call again.' }],
    });
    await expect(resultOf(client, {}, 'po')).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('unknown operation "po". Did you mean op?'),
    });
    expect(mock.mcp.tool.mock.verify()).toMatchObject({
      unmatched: {
        count: 2,
        examples: [
          { operation: 'op', reason: expect.stringContaining('$.n must be integer') },
          { operation: 'po', reason: expect.stringContaining('unknown operation') },
        ],
      },
      undelivered: { count: 0 },
    });
  });

  test('a canceled call is canceled in the tool, with the reason; it gets no answer', async () => {
    await using mock = await startMcpMock(replying({ silence: true }));
    const client = await mock.client(era);
    const abort = new AbortController();
    const call = client.callTool({ name: 'op', arguments: {} }, { signal: abort.signal });
    await eventually('planned', () => eventsOfKind(mock.mcp.tool, 'planned').length > 0);
    abort.abort();
    await expect(call).rejects.toThrow();
    await eventually('broken', () => eventsOfKind(mock.mcp.tool, 'broken').length > 0);
    expect(eventsOfKind(mock.mcp.tool, 'response')).toEqual([]);
    expect(mock.mcp.tool.mock.verify()).toMatchObject({ ok: true });
  });

  test('concurrent calls each get their own answer', async () => {
    await using mock = await startMcpMock(replying({ payload: '{{arguments.n}}' }));
    const client = await mock.client(era);
    const numbers = Array.from({ length: 50 }, (_, n) => n);
    const results = await Promise.all(numbers.map(n => resultOf(client, { n })));
    expect(results.map(({ content }) => content)).toEqual(numbers.map(n => text(String(n))));
  });
});

describe('on the wire', () => {
  test("isError is always present, structuredContent and _meta are not; a handler's result is sent byte for byte", async () => {
    const odd = { content: [{ type: 'hologram', depth: 3, text: 7 }], extra: { a: null } };
    const fixtures = [
      { match: { operation: 'op' }, reply: { payload: 'x' } },
      { match: { operation: 'odd' }, reply: { result: odd } },
    ];
    await using mock = await startMcpMock({ fixtures });
    const session = (await mock.post(INITIALIZE)).headers.get('mcp-session-id') ?? '';
    const headers = { 'mcp-session-id': session };
    const plain = await mock.post(rpcCall(2), headers);
    expect(await plain.text()).toBe(
      '{"result":{"content":[{"type":"text","text":"x"}],"isError":false},"jsonrpc":"2.0","id":2}',
    );
    const verbatim = await mock.post(rpcCall(3, 'odd'), headers);
    expect(await verbatim.json()).toMatchObject({ result: { ...odd, isError: false } });
  });

  test.each<[string, unknown, number, object]>([
    ['invalid JSON', '{"jsonrpc":', 400, { error: { code: -32700 } }],
    ['a message that is not JSON-RPC', { hello: 1 }, 400, { error: { code: -32600 } }],
    ['a request without a session', rpcCall(2), 400, { error: { code: -32000 } }],
    [
      'a subscription',
      { jsonrpc: '2.0', id: 4, method: 'subscriptions/listen', params: {} },
      404,
      { id: 4, error: { code: -32601 } },
    ],
  ])('%s is refused, and the next request is served', async (_, message, status, expected) => {
    await using mock = await startMcpMock(replying({ payload: 'x' }));
    const response = await mock.post(message);
    expect([response.status, await response.json()]).toEqual([
      status,
      expect.objectContaining({ error: expect.objectContaining((expected as { error: object }).error) }),
    ]);
    expect((await mock.post(INITIALIZE)).status).toBe(200);
  });

  test.each<[string, object, object, string]>([
    [
      'an invalid result is sent',
      { content: [{ type: 'text' }], isError: 'yes' },
      { content: [{ type: 'text' }], isError: 'yes' },
      'an invalid MCP result was sent: $.',
    ],
    [
      'a result of RAP loses its display',
      { text: 'x', display_as: [{ type: 'text', content: 'y' }] },
      { content: text('x'), isError: false },
      'cannot carry what people see (display_as, 1 segment)',
    ],
    [
      'an unknown object is sent as text',
      { answer: 42 },
      { content: text('{"answer":42}'), isError: false },
      'neither content (MCP) nor text (RAP)',
    ],
  ])('a warning for a verbatim result: %s', async (_, result, sent, warning) => {
    await using mock = await startMcpMock(replying({ result }));
    const session = (await mock.post(INITIALIZE)).headers.get('mcp-session-id') ?? '';
    const answer = await mock.post(rpcCall(2), { 'mcp-session-id': session });
    expect(await answer.json()).toMatchObject({ result: sent });
    expect(
      eventsOfKind(mock.mcp.tool, 'warned')
        .map(({ message }) => message)
        .join(),
    ).toContain(warning);
  });

  test('an unknown or ended session is refused', async () => {
    await using mock = await startMcpMock(replying({ payload: 'x' }));
    expect((await mock.post(rpcCall(2), { 'mcp-session-id': 'no one' })).status).toBe(404);
    const session = (await mock.post(INITIALIZE)).headers.get('mcp-session-id') ?? '';
    const headers = { 'mcp-session-id': session };
    expect((await fetch(mock.url, { method: 'DELETE', headers })).status).toBe(200);
    expect((await mock.post(rpcCall(2), headers)).status).toBe(404);
  });

  test("serves the mock's own journal and reset", async () => {
    await using mock = await startMcpMock(replying({ payload: 'x' }));
    await resultOf(await mock.client());
    const base = mock.mcp.address?.base;
    const journal = await (await fetch(`${base}/__mock__/journal`)).json();
    expect(journal).toMatchObject({ calls: [{ state: 'delivered' }] });
    await fetch(`${base}/__mock__/reset`, { method: 'POST' });
    expect(mock.mcp.tool.mock.events).toEqual([]);
  });

  test('a request that no route serves is refused with a warning', async () => {
    await using mock = await startMcpMock(replying({ payload: 'x' }));
    expect((await fetch(`${mock.mcp.address?.base}/other`)).status).toBe(404);
    expect(eventsOfKind(mock.mcp.tool, 'warned')).toMatchObject([
      { message: 'request refused with 404: GET /other (no route for this path)' },
    ]);
  });
});

test('each session is a thread with its own sequences', async () => {
  const fixtures = [{ match: { operation: 'op' }, sequence: [{ payload: 'one' }, { payload: 'two' }] }];
  await using mock = await startMcpMock({ fixtures });
  const [a, b] = [await mock.client(), await mock.client()];
  const said = [await resultOf(a), await resultOf(b), await resultOf(a)].map(({ content }) => content);
  expect(said).toEqual([text('one'), text('one'), text('two')]);
});

test('close() answers waiting calls at once and ends silent ones', async () => {
  const fixtures = [
    { match: { operation: 'op' }, reply: { payload: 'late', delay: '1h' } },
    { match: { operation: 'po' }, reply: { silence: true } },
  ];
  const mock = await startMcpMock({ fixtures });
  const client = await mock.client();
  const late = resultOf(client);
  const silent = resultOf(client, {}, 'po').catch(() => 'gone');
  await eventually('matched', () => eventsOfKind(mock.mcp.tool, 'matched').length === 2);
  await mock.mcp.close();
  expect(await late).toMatchObject({ content: text('late') });
  expect(await silent).toBe('gone');
  await mock[Symbol.asyncDispose]();
});
