import { describe, expect, test } from 'vitest';
import { rawExchange, request, statusOf } from '../../http/raw.js';
import { replying, startMock } from '../start-mock.js';

test('TOOL-DISCOVER: a valid toolset, derived from the operations if none is given', async () => {
  await using mock = await startMock(replying({ payload: 'x' }));
  const toolset = await mock.runtime.discover(mock.tool.url);
  expect(toolset).toMatchObject({ endpoint: `${mock.tool.url}/invoke`, tools: [{ name: 'op' }] });
  expect(mock.runtime.verdict()).toEqual([]);
});

test('row 6: the endpoint uses the host name of the request', async () => {
  await using mock = await startMock(replying({ payload: 'x' }));
  const { port } = mock.tool;
  for (const host of [`127.0.0.1:${port}`, `localhost:${port}`]) {
    const answer = await rawExchange(port, request('GET /.well-known/rap-toolset', `Host: ${host}`));
    expect(answer).toContain(`"endpoint":"http://${host}/invoke"`);
  }
});

const migrating = {
  ...replying({ payload: 'x' }),
  toolset: {
    name: 'moving',
    needsMigration: true,
    tools: [{ name: 'op', description: 'Does it', inputSchema: { type: 'object' } }],
  },
};

describe('TOOL-CANCEL, TOOL-CLOSE: always 200 with an empty body', () => {
  test('known or not, malformed, repeated', async () => {
    await using mock = await startMock(replying({ payload: 'x' }));
    await (await mock.invoke()).result();
    for (const [path, body] of [
      ['/cancel_tool_call', { thread_id: 'g', tool_call_id: 'i' }],
      ['/cancel_tool_call', { thread_id: 'g', tool_call_id: 'i' }],
      ['/cancel_tool_call', { thread_id: 'unknown', tool_call_id: '../../etc/passwd' }],
      ['/cancel_tool_call', { thread_id: 7 }],
      ['/cancel_tool_call', 'no JSON'],
      ['/close_thread', { thread_id: 'g' }],
      ['/close_thread', { thread_id: '__proto__' }],
      ['/close_thread', {}],
      ['/close_thread', '\u0000'],
    ] as const) {
      const answer = await mock.post(path, body);
      expect([path, body, answer.status, await answer.text()]).toEqual([path, body, 200, '']);
    }
  });

  test('each is logged, with its call and thread', async () => {
    await using mock = await startMock(replying({ payload: 'x' }));
    await mock.runtime.cancel(mock.tool.url, 'g', 'i');
    await mock.runtime.closeThread(mock.tool.url, 'g');
    expect(mock.eventsOfKind('request')).toMatchObject([
      { purpose: 'cancel', from: 'runtime', to: 'tool', calls: ['["g","i"]'], thread: 'g' },
      { purpose: 'close', from: 'runtime', to: 'tool', thread: 'g' },
    ]);
    expect(mock.eventsOfKind('response').map(({ status }) => status)).toEqual([200, 200]);
  });
});

describe('TOOL-MIGRATE', () => {
  const move = { session_id: 'g', destination_url: 'https://new.example/' };

  test('400 for a malformed request', async () => {
    await using mock = await startMock(migrating);
    for (const body of [{}, { session_id: 'g' }, { ...move, destination_url: 'nowhere' }, 'no JSON']) {
      const answer = await mock.post('/migrate', body);
      const text = expect.stringMatching(/^not migrated: \d error/);
      expect([body, answer.status, await answer.text()]).toEqual([body, 400, text]);
    }
  });

  test('without needsMigration the route does not exist', async () => {
    await using mock = await startMock(replying({ payload: 'x' }));
    expect((await mock.post('/migrate', move)).status).toBe(404);
  });
});

const sequence = {
  fixtures: [
    { match: { operation: 'op' }, sequence: [{ payload: 'one' }, { payload: 'two' }], exhausted: 'last' },
  ],
};

test.each([
  ['/__mock__/reset', { keey: 'g' }, 'key'],
  ['/__mock__/reset', { key: 7 }, 'key'],
  ['/__mock__/fire', { id: 'i', '\u001bcolour': '1' }, 'id, group_id'],
  ['/__mock__/fire', '[]', 'id, group_id'],
])('%s: a misspelled field never means "all": %j', async (path, body, fields) => {
  await using mock = await startMock(sequence);
  const answer = await mock.post(path, body);
  expect([answer.status, await answer.text()]).toEqual([
    400,
    `The body must be empty, or JSON with these optional texts: ${fields}.\n`,
  ]);
});

test('a request with no body and no word about one, as curl -X POST sends it, means all', async () => {
  await using mock = await startMock(sequence);
  const { port } = mock.tool;
  const answer = await rawExchange(port, request('POST /__mock__/reset', `Host: 127.0.0.1:${port}`));
  expect(statusOf(answer)).toBe(200);
});

describe('the guard protects these routes too', () => {
  test.each([
    ['POST', '/__mock__/reset', '{}', 415, 'refused: its Content-Type is not application/json\n'],
    ['GET', '/__mock__/fire', null, 405, 'refused: its method is not POST\n'],
    ['GET', '/nowhere', null, 404, 'refused: no route for this path\n'],
  ])('a refusal contains the reason: %s %s %s', async (method, path, body, status, text) => {
    await using mock = await startMock(sequence);
    const answer = await fetch(mock.tool.url + path, { method, body });
    expect([answer.status, await answer.text()]).toEqual([status, text]);
  });
});
