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
  const { invocation } = runtime.withCallbackUrl(ids);
  const exchange = await runtime.invoke(wire, {
    endpoint,
    invocation,
    retries,
    lenientAck: lenient,
    timeoutMs,
    stopWaiting: ({ attempts }) => [200, ...(lenient ? [204] : [])].includes(attempts.at(-1)?.status ?? 0),
  });
  await runtime.close();
  return { exchange, invocation };
}

async function dispatched(replies: readonly Reply[], options: Parameters<typeof sent>[1] = {}) {
  await using server = await startServing(...replies);
  return { ...(await sent(server.url, options)), requests: server.requests };
}

test('RT-FIELDS: POSTs the invocation as JSON, unchanged by retries', async () => {
  const { requests, invocation } = await dispatched([503, 200]);
  for (const { method, headers, body } of requests) {
    expect([method, headers['content-type']]).toEqual(['POST', 'application/json']);
    expect(JSON.parse(body)).toEqual(invocation);
  }
});

test('keeps the beginning of an acknowledgement’s body, so that its presence can be reported (TOOL-ASYNC)', async () => {
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

test('RT-RETRY: a tool that answered 200 has the invocation, even if reading the body fails', async () => {
  const torn: Reply = response => {
    response.writeHead(200, { 'content-length': '9' }).write('half');
    setImmediate(() => response.destroy());
  };
  const { exchange, requests } = await dispatched([torn]);
  expect(requests).toHaveLength(1);
  expect(exchange).toMatchObject({ settled: null, attempts: [{ status: 200 }] });
});

test('reads only the beginning of a refusal’s body', async () => {
  const huge: Reply = response => response.writeHead(400).end('x'.repeat(1_000_000));
  const refused = await dispatched([huge]);
  expect(refused.exchange?.attempts[0]?.excerpt?.length).toBeLessThanOrEqual(4_096);
});

test('RT-TIMEOUT: a timeout ends an unanswered request without retries', async () => {
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
