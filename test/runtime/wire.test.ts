import { describe, expect, test } from 'vitest';
import type { Wire } from '../../src/runtime/wire.js';
import { LIMITS } from '../../src/util/limits.js';
import { KEY, THREAD } from '../events/build.js';
import { errorOf } from '../support/failing.js';
import { type Reply, startServing } from '../support/serving.js';
import { openWires } from './open-wires.js';

const TOOLSET = {
  name: 'demo',
  endpoint: 'http://127.0.0.1:1/invoke',
  tools: [{ name: 'a', description: '', inputSchema: {} }],
};
const json =
  (body: unknown): Reply =>
  response =>
    response.end(JSON.stringify(body));

describe('discovery', () => {
  test('requests the URL as given, then its origin, which takes the notices', async () => {
    await using server = await startServing(404, json(TOOLSET));
    await using wires = openWires();
    const wire = wires.wireTo(`${server.url}tools/x/`);
    const { toolset } = await wire.discover();
    expect(server.requests.map(({ method, url, headers }) => [method, url, headers.accept])).toEqual([
      ['GET', '/tools/x/.well-known/rap-toolset', 'application/json'],
      ['GET', '/.well-known/rap-toolset', 'application/json'],
    ]);
    expect([`${wire.base}/`, toolset.name]).toEqual([server.url, 'demo']);
    expect(wires.history.toolsets).toMatchObject([{ toolset: 'demo', operations: ['a'] }]);
  });

  test.each<[string, Reply, string, RegExp]>([
    ['no document', 404, 'no-discovery', /answered 404.*answered 404/],
    ['row 11: a redirect is not followed', 302, 'no-discovery', /answered 302/],
    ['not JSON', response => response.end('<html>'), 'invalid-toolset', /is not valid$/],
    ['an invalid toolset', json({ ...TOOLSET, name: '' }), 'invalid-toolset', /is not valid$/],
    ['no answer', 'reset', 'unreachable', /\/x\/\.well-known\/rap-toolset: /],
  ])('an error contains the URL and a hint: %s', async (_, reply, code, message) => {
    await using server = await startServing(reply);
    await using wires = openWires();
    const error = await errorOf(() => wires.wireTo(`${server.url}x`).discover());
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(error.hint).toMatch(/./);
    expect(error.hint).not.toMatch(/--endpoint/); // library callers have no options
  });

  test('a document with Content-Encoding: identity is recorded', async () => {
    await using server = await startServing(response =>
      response.setHeader('content-encoding', 'Identity').end(JSON.stringify(TOOLSET)),
    );
    await using wires = openWires();
    const recorded: unknown[] = [];
    wires.log.subscribe(event => event.kind === 'response' && recorded.push(event.body?.text));
    await wires.wireTo(server.url).discover();
    expect(recorded).toEqual([JSON.stringify(TOOLSET)]);
  });

  test('reports every error of an invalid toolset, safe to print', async () => {
    await using server = await startServing(json({ ...TOOLSET, name: '', tools: [{ name: '\u001b[2J' }] }));
    await using wires = openWires();
    const { faults } = await errorOf(() => wires.wireTo(server.url).discover());
    expect(faults.length).toBeGreaterThanOrEqual(4);
    for (const fault of faults) expect(fault).not.toMatch(/\p{Cc}/u);
  });

  test('row 10, row 9: does not connect to a metadata address', async () => {
    await using wires = openWires();
    const { code } = await errorOf(() => wires.wireTo('http://169.254.169.254/').discover());
    expect(code).toBe('refused-address');
  });

  test.each([
    [401, 'give --tool-bearer'],
    [404, 'give the base'],
  ])('after %i a command gives its own hint', async (status, hint) => {
    await using server = await startServing(status);
    await using wires = openWires();
    const hints = { locked: 'give --tool-bearer', missing: 'give the base' };
    await expect(wires.wireTo(server.url).discover(hints)).rejects.toMatchObject({ hint });
  });
});

describe('row 12: credentials', () => {
  test.each([
    ['go to their own origin', true],
    ['go to no other', false],
  ])('%s', async (_, isOwn) => {
    await using server = await startServing(200);
    await using wires = openWires();
    const headers = { authorization: 'Bearer canary' };
    const wire = wires.wireTo(isOwn ? server.url : 'http://127.0.0.1:1', headers);
    const request = { method: 'GET', url: server.url, read: 'nothing' } as const;
    await wire.request({ purpose: 'discovery' }, request);
    expect(server.requests[0]?.headers.authorization).toBe(isOwn ? 'Bearer canary' : undefined);
    expect(wire.withheldFrom(server.url)).toHaveLength(isOwn ? 0 : 1);
  });
});

const CALL = { key: KEY, thread: THREAD, id: KEY, signal: new AbortController().signal };
const MOVE = { session_id: 's', destination_url: 'http://other.example' };
const CLOSE = { kind: 'close', message: { thread_id: THREAD } } as const;
const SELECTION = { id: KEY, selected: 1 };
const choose = (wire: Wire) => wire.respondToChoice(`${wire.base}/choices/1?x=2`, CALL, SELECTION);
const close = (wire: Wire) => wire.closeThread(THREAD);

test.each<[string, (wire: Wire) => ReturnType<Wire['notify']>, string, object]>([
  ['close_thread', close, '/close_thread', { thread_id: THREAD }],
  [
    'cancel_tool_call',
    wire => wire.cancelToolCall(CALL),
    '/cancel_tool_call',
    { thread_id: THREAD, tool_call_id: KEY },
  ],
  ['migrate', wire => wire.notify({ kind: 'migrate', message: MOVE }), '/migrate', MOVE],
  ['RT-CHOICE: a selection', choose, '/choices/1?x=2', SELECTION],
])('%s POSTs exactly its fields', async (_, send, path, body) => {
  await using server = await startServing(200);
  await using wires = openWires();
  expect(await send(wires.wireTo(server.url))).toMatchObject({ status: 200, reason: '' });
  expect(server.requests).toMatchObject([{ method: 'POST', url: path }]);
  expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual(body);
});

test.each<[Reply, typeof close]>([
  [500, close],
  [302, choose],
  ['reset', close],
  ['reset', choose],
])('RT-NOTIFY: after %s a message is not sent again, and nothing is thrown', async (reply, send) => {
  await using server = await startServing(reply);
  await using wires = openWires();
  expect(await send(wires.wireTo(server.url))).toMatchObject({ status: reply === 'reset' ? null : reply });
  expect(server.requests).toHaveLength(1);
  expect([...wires.history.untracked.values()]).toHaveLength(1);
});

test('RT-CHOICE: a slow response_url gets more time than a notice, and one request', async () => {
  await using server = await startServing(response => {
    setTimeout(() => response.writeHead(200).end(), 3_500);
  });
  await using wires = openWires();
  const wire = wires.wireTo(server.url);
  const [sent, closed] = await Promise.all([choose(wire), close(wire)]);
  expect([sent.status, closed.status]).toEqual([200, null]);
  expect(server.requests.filter(({ url }) => url?.startsWith('/choices/1'))).toHaveLength(1);
});

describe('the answer to a notice', () => {
  /** Returns the answer, and the bodies that were recorded. */
  async function closing(reply: Reply, waiting = {}) {
    await using server = await startServing(reply);
    await using wires = openWires();
    const said: string[] = [];
    wires.log.subscribe(event => {
      if (event.kind === 'response' && event.body) said.push(Buffer.from(event.body.bytes).toString());
    });
    return { answer: await wires.wireTo(server.url).notify(CLOSE, waiting), said };
  }

  test('reports a refusal with the beginning of its body', async () => {
    const { answer } = await closing(response => response.writeHead(409).end('x'.repeat(10_000)));
    expect(answer).toMatchObject({ status: 409, reason: 'x'.repeat(LIMITS.excerptBytes.value) });
  });

  const chunked =
    (...chunks: string[]): Reply =>
    response => {
      response.writeHead(200, { 'transfer-encoding': 'chunked' });
      for (const chunk of chunks) response.write(chunk);
      response.end();
    };

  test.each<[string, Reply, number | null, string[]]>([
    [
      'its size and its beginning are recorded',
      response => response.writeHead(200, { 'content-length': 10_000 }).end('x'.repeat(10_000)),
      10_000,
      ['x'.repeat(LIMITS.excerptBytes.value)],
    ],
    ['an endless one is not waited for', response => response.writeHead(200).write('hello'), null, ['hello']],
    ['of unknown size', chunked('h', 'ello'), null, ['hello']],
    ['empty, of unknown size', chunked(), 0, []],
  ])('a body after a 200 is not the reason of a refusal: %s', async (_, reply, bodySize, recorded) => {
    const { answer, said } = await closing(reply, { timeoutMs: 60_000 });
    expect(answer).toEqual({ status: 200, reason: '', bodySize });
    expect(said).toEqual(recorded);
  });

  test.each([
    ['http://127.0.0.1:1', /ECONNREFUSED/, /Is the tool running/],
    ['http://169.254.169.254', /was not called/, /never link-local/],
  ])('%s does not answer: reports the reason', async (url, reason, hint) => {
    await using wires = openWires();
    expect(await wires.wireTo(url).notify(CLOSE)).toMatchObject({
      status: null,
      reason: expect.stringMatching(reason),
      hint: expect.stringMatching(hint),
    });
  });

  test('is not waited for longer than the time limit', async () => {
    const { answer } = await closing(() => {}, { timeoutMs: 50 });
    expect(answer).toMatchObject({ status: null, reason: expect.stringContaining('50') });
  });
});
