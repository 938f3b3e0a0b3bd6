import { describe, expect, test } from 'vitest';
import { Runtime } from '../../src/runtime/runtime.js';
import { systemClock } from '../../src/system/clock.js';
import { INVOCATION } from '../events/build.js';
import { type Reply, startServing } from '../support/serving.js';
import { workbench } from './wire-of.js';

const LISTENER = { host: '127.0.0.1', port: 0, allowedHosts: [], maxBody: 10_000 };

/** Sends an invocation; does not wait for a result after the acknowledgement. */
async function sent(
  endpoint: string,
  {
    retries = 2,
    lenient = false,
    timeoutMs = 10_000,
    credentials = { origin: 'http://none', headers: {} },
  } = {},
) {
  await using bench = workbench(credentials);
  const { wire, history } = bench;
  const runtime = await Runtime.start({ log: wire.log, history, clock: systemClock, listener: LISTENER });
  const { callback_url: _, ...ids } = INVOCATION;
  const { invocation } = runtime.address(ids);
  const exchange = await runtime.invoke(wire, {
    endpoint,
    invocation,
    retries,
    lenientAck: lenient,
    timeoutMs,
    leave: ({ attempts }) => [200, ...(lenient ? [204] : [])].includes(attempts.at(-1)?.status ?? 0),
  });
  await runtime.close();
  return { exchange, invocation };
}

async function dispatched(replies: readonly Reply[], options: Parameters<typeof sent>[1] = {}) {
  await using server = await startServing(...replies);
  return { ...(await sent(server.url, options)), requests: server.requests };
}

describe('attempts, and what they come to', () => {
  test.each<[string, Reply[], number, object | null]>([
    ['200', [200], 1, null],
    ['RT-RETRY: 503, then 200', [503, 200], 2, null],
    ['RT-RETRY: a reset, then 200', ['reset', 200], 2, null],
    ['RT-RETRY: 500 for ever', [500], 3, { by: 'refusal', status: 500, excerpt: 'status 500' }],
    ['RT-RETRY: resets for ever', ['reset'], 3, { by: 'unreachable', code: 'ECONNRESET', attempts: 3 }],
    ['RT-NORETRY: 400', [400], 1, { by: 'refusal', status: 400, excerpt: 'status 400' }],
    ['RT-NORETRY: 429', [429], 1, { by: 'refusal', status: 429 }],
    ['RT-NORETRY: 404', [404], 1, { by: 'refusal', status: 404 }],
    ['RT-NORETRY: 503, then 400', [503, 400], 2, { by: 'refusal', status: 400 }],
    ['row 11: a redirect is never followed', [302], 1, { by: 'refusal', status: 302 }],
    ['RT-NON200: 201', [201], 1, { by: 'refusal', status: 201 }],
    ['RT-NON200: 299', [299], 1, { by: 'refusal', status: 299 }],
    ['RT-NON200: 204', [204], 1, { by: 'refusal', status: 204, excerpt: '' }],
  ])('%s', async (_, replies, attempts, settled) => {
    const { exchange, requests } = await dispatched(replies);
    expect(requests).toHaveLength(attempts);
    expect(exchange?.attempts).toHaveLength(attempts);
    if (settled) expect(exchange?.settled).toMatchObject(settled);
    else expect(exchange?.settled).toBeNull();
  });

  test('--lenient-ack takes any 2xx', async () => {
    const { exchange } = await dispatched([204], { lenient: true });
    expect(exchange?.settled).toBeNull();
  });

  test('--retries 0: once is once', async () => {
    const { requests } = await dispatched([503], { retries: 0 });
    expect(requests).toHaveLength(1);
  });

  test('RT-RETRY: nothing listens', async () => {
    const { url } = await startServing(200).then(async server => {
      await server[Symbol.asyncDispose]();
      return server;
    });
    const { exchange } = await sent(url, { retries: 1 });
    expect(exchange.settled).toMatchObject({
      by: 'unreachable',
      phase: 'connect',
      code: 'ECONNREFUSED',
      attempts: 2,
    });
  });
});

test('RT-FIELDS: a POST of JSON, as the invocation stands, the same each time', async () => {
  const { requests, invocation } = await dispatched([503, 200]);
  for (const { method, headers, body } of requests) {
    expect([method, headers['content-type']]).toEqual(['POST', 'application/json']);
    expect(JSON.parse(body)).toEqual(invocation);
  }
});

test('of the body of an acknowledgement the beginning is kept, so that it can be said that there is one (TOOL-ASYNC)', async () => {
  const endless: Reply = response => {
    response.writeHead(200);
    response.write('never to end');
  };
  const { exchange } = await dispatched([endless]);
  expect(exchange?.attempts[0]).toMatchObject({ status: 200, bodySize: 12 });
  expect(exchange?.attempts[0]).not.toHaveProperty('excerpt');
  const empty = await dispatched([response => response.writeHead(200).end()]);
  expect(empty.exchange?.attempts[0]).not.toHaveProperty('bodySize');
});

test('RT-RETRY: anyone who has answered 200 has the invocation, whatever becomes of the body', async () => {
  const torn: Reply = response => {
    response.writeHead(200, { 'content-length': '9' }).write('half');
    setImmediate(() => response.destroy());
  };
  const { exchange, requests } = await dispatched([torn]);
  expect(requests).toHaveLength(1);
  expect(exchange).toMatchObject({ settled: null, attempts: [{ status: 200 }] });
});

test('the body of a refusal is read only at its beginning', async () => {
  const huge: Reply = response => response.writeHead(400).end('x'.repeat(1_000_000));
  const refused = await dispatched([huge]);
  expect(refused.exchange?.attempts[0]?.excerpt?.length).toBeLessThanOrEqual(4_096);
});

test('RT-TIMEOUT: the end of the wait ends a request that is not answered, and nothing is retried', async () => {
  const { exchange, requests } = await dispatched([() => {}], { retries: 5, timeoutMs: 50 });
  expect(exchange.settled).toMatchObject({ by: 'timeout' });
  expect(requests).toHaveLength(1);
});

describe('row 12: credentials', () => {
  test.each([
    ['go to their own origin', true],
    ['go to no other', false],
  ])('%s', async (_, own) => {
    await using server = await startServing(200);
    const origin = own ? new URL(server.url).origin : 'http://127.0.0.1:1';
    await sent(server.url, { credentials: { origin, headers: { authorization: 'Bearer canary' } } });
    expect(server.requests[0]?.headers.authorization).toBe(own ? 'Bearer canary' : undefined);
  });
});
