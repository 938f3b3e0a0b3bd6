import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Body } from '../../src/events/events.js';
import { llmTextOf } from '../../src/events/exchange.js';
import { History } from '../../src/events/history.js';
import { warningsOf } from '../../src/render/warnings.js';
import { type Call, Runtime } from '../../src/runtime/runtime.js';
import { createRunnableClock } from '../../src/system/clock.js';
import { acknowledged, call, ENDPOINT, INVOCATION, KEY, OAUTH, RESULT } from '../events/build.js';
import { fakeClock } from '../support/fake-clock.js';
import { type Received, type Reply, startServing } from '../support/serving.js';
import { openWires, type Wires } from './open-wires.js';

const LISTENER = { host: '127.0.0.1', port: 0, allowedHosts: [], maxBody: 10_000 };

let wires: Wires;

let runtime: Runtime;

beforeEach(async () => {
  wires = openWires();
  runtime = await Runtime.start({ ...wires, clock: createRunnableClock(), listener: LISTENER });
});

afterEach(async () => {
  await runtime.close();
  await wires[Symbol.asyncDispose]();
});

const post = (url: string, body: string | Uint8Array, headers: Record<string, string> = {}) =>
  fetch(url, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });

const callbackUrl = ({ body }: Received): string => JSON.parse(body).callback_url;

/** A tool that acknowledges, then POSTs each body in turn; `statuses` holds the responses. */
function toolThatPosts(...bodies: (object | string | Uint8Array)[]) {
  const statuses: number[] = [];
  const reply: Reply = (response, request) => {
    response.end();
    void bodies.reduce(async (before, body) => {
      await before;
      const bytes = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
      const answer = await post(callbackUrl(request), bytes);
      statuses.push(answer.status);
    }, Promise.resolve());
  };
  return { reply, statuses };
}

async function invoked(replies: Reply | readonly Reply[], options: Partial<Call> = {}) {
  await using server = await startServing(...[replies].flat());
  const invocation = runtime.addressed(INVOCATION);
  const waiting = { timeoutMs: 10_000, retries: 0, lenientAck: false, ...options };
  const call = { endpoint: server.url, invocation, ...waiting };
  await runtime.invoke(wires.wireTo(server.url), call);
  const exchange = wires.history.first;
  if (!exchange) throw new Error('the call was made');
  return { exchange, invocation, requests: server.requests };
}

test('sends an invocation, is acknowledged, and receives the callback', async () => {
  const tool = toolThatPosts(RESULT);
  const { exchange, invocation } = await invoked(tool.reply);
  expect(llmTextOf(exchange)).toBe('done');
  expect(exchange.attempts).toMatchObject([{ status: 200 }]);
  expect(exchange.invocation).toEqual(invocation);
  expect(invocation.callback_url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/callback\/[\w-]{43}$/);
});

test('row 8, RT-MATCH, RT-VALIDATE: forged and invalid callbacks are answered 4xx, and the valid one counts', async () => {
  const forged = { ...RESULT, text: 'forged' };
  const tool = toolThatPosts(
    '{',
    { type: 'x' },
    { ...forged, id: 'x' },
    { ...forged, group_id: 'x' },
    new Uint8Array([0xff]),
    RESULT,
  );
  const { exchange } = await invoked(tool.reply);
  expect(llmTextOf(exchange)).toBe('done');
  expect(exchange.arrivals.map(({ status }) => status)).toEqual([400, 400, 404, 404, 400, 200]);
  expect(exchange.arrivals.map(({ verdict }) => verdict.status)).toEqual([400, 400, 404, 404, 400, 200]);
});

test('TOOL-ACK: a result before the acknowledgement is accepted and flagged', async () => {
  const { exchange } = await invoked(async (response, request) => {
    await post(callbackUrl(request), JSON.stringify(RESULT));
    response.end();
  });
  expect(exchange.settled?.by).toBe('result');
  expect(exchange.attempts).toMatchObject([{ status: 200 }]);
  expect(warningsOf(new History(), exchange)).toMatchObject([{ id: 'TOOL-ACK' }]);
});

test('TOOL-ACK: an acknowledgement in transit is waited for and not flagged', async () => {
  const { exchange } = await invoked((response, request) => {
    void post(callbackUrl(request), JSON.stringify(RESULT));
    const stop = wires.log.subscribe(({ kind }) => {
      if (kind !== 'request') return;
      stop();
      response.end();
    });
  });
  const [attempt] = exchange.attempts;
  expect(attempt?.endedAt).toBeGreaterThan(exchange.settled?.at ?? 0);
  expect(warningsOf(new History(), exchange)).toEqual([]);
});

test('RT-PENDING: oauth pauses the timeout, and the invocation is not sent again', async () => {
  const clock = fakeClock();
  await runtime.close();
  runtime = await Runtime.start({ ...wires, clock, listener: LISTENER });
  const { exchange } = await invoked(
    async (response, request) => {
      response.end();
      await post(callbackUrl(request), JSON.stringify(OAUTH));
      clock.advance(1_000);
      await post(callbackUrl(request), JSON.stringify(RESULT));
    },
    { timeoutMs: 100 },
  );
  expect(exchange.settled?.by).toBe('result');
  expect(exchange.attempts).toHaveLength(1);
});

describe('RT-PENDING: a tool that has called back has the invocation, whatever it answers', () => {
  const refusing = (status: number, first: object, then: object[] = []) => {
    const rest = toolThatPosts(...then);
    const reply: Reply = async (response, request) => {
      await post(callbackUrl(request), JSON.stringify(first));
      response.writeHead(status);
      await rest.reply(response, request);
    };
    return invoked(reply, { retries: 2, timeoutMs: 2_000 });
  };

  test.each([500, 503, 400])('a result, then %i: executed once', async status => {
    const { exchange } = await refusing(status, RESULT);
    expect(exchange.settled?.by).toBe('result');
    expect(exchange.attempts).toMatchObject([{ status }]);
  });

  test.each([500, 400])('a question, then %i: the call stays pending', async status => {
    const { exchange } = await refusing(status, OAUTH, [RESULT]);
    expect(exchange.settled?.by).toBe('result');
    expect(exchange.attempts).toMatchObject([{ status }]);
  });
});

describe('the listener', () => {
  const addressed = () => {
    const invocation = runtime.addressed(INVOCATION);
    const client = { send: () => new Promise<never>(() => {}), close: async () => {} };
    const call = { endpoint: ENDPOINT, invocation, timeoutMs: 0, retries: 0, lenientAck: false };
    void runtime.invoke(wires.wireTo(ENDPOINT, {}, client), call);
    return invocation.callback_url;
  };
  const result = JSON.stringify(RESULT);

  test('RT-DUP: answers 200 to a repeated callback', async () => {
    const url = addressed();
    expect([(await post(url, result)).status, (await post(url, result)).status]).toEqual([200, 200]);
    expect(wires.history.first?.arrivals.map(({ verdict }) => verdict.kind)).toEqual([
      'settles',
      'duplicate',
    ]);
  });

  test('a full disk: answers 503 if the callback was not recorded, so that it is sent again', async () => {
    const url = addressed();
    wires.log.storeEventsIn(() => Promise.reject(new Error('ENOSPC')));
    expect((await post(url, result)).status).toBe(503);
  });
});

test.each([true, false])(
  'with keepBodies %s a callback is judged, and a duplicate is detected',
  async keepBodies => {
    const listener = { ...LISTENER, maxBody: 10_000_000, keepBodies };
    const other = await Runtime.start({ ...wires, clock: createRunnableClock(), listener });
    const contents: Body[] = [];
    wires.log.subscribe(event => {
      if (event.kind === 'request' && event.purpose === 'callback' && event.body) contents.push(event.body);
    });
    for (const fact of [...call(), ...acknowledged()]) wires.log.emit(fact);
    const url = other.addressed(INVOCATION).callback_url;
    const large = JSON.stringify({ ...RESULT, text: 'é😀"\n'.repeat(200_000) });
    const statuses = [];
    for (const body of [large, large, large.slice(0, -1)]) statuses.push((await post(url, body)).status);
    await other.close();
    expect(statuses).toEqual([200, 200, 400]);
    const [first, second] = contents;
    expect([second?.sha256, second?.size]).toEqual([first?.sha256, Buffer.byteLength(large)]);
    if (keepBodies) expect(Buffer.from(first?.bytes ?? []).equals(Buffer.from(large))).toBe(true);
    else expect(() => first?.bytes).toThrow('not kept');
  },
);

describe('RT-ID, RT-FIELDS: refuses to send what could never be settled', () => {
  const refused = async (change: object) => {
    await using server = await startServing(200);
    const invocation = runtime.addressed({ ...INVOCATION, ...change });
    const call = { endpoint: server.url, invocation, timeoutMs: 10_000, retries: 0, lenientAck: false };
    const failure = await runtime.invoke(wires.wireTo(), call).catch((error: Error) => error.message);
    return { failure, sent: server.requests.length };
  };
  const deep = JSON.parse(`${'{"a":'.repeat(128)}1${'}'.repeat(128)}`);

  test.each([
    ['an empty id', { id: '' }],
    ['arguments that are nested too deep', { arguments: deep }],
  ])('%s', async (_, change) => {
    expect(await refused(change)).toEqual({ failure: 'the invocation cannot be sent', sent: 0 });
  });

  test('an id that was used before', async () => {
    await invoked(toolThatPosts(RESULT).reply);
    expect(await refused({ group_id: 'another' })).toEqual({
      failure: `the id "${KEY}" was used before`,
      sent: 0,
    });
  });
});

describe('the dispatch', () => {
  const isAcknowledged: NonNullable<Call['stopWaiting']> = ({ attempts }) => attempts.at(-1)?.status === 200;
  const dispatched = (replies: readonly Reply[], options: Partial<Call> = {}) =>
    invoked(replies, { retries: 2, stopWaiting: isAcknowledged, ...options });

  test('RT-FIELDS: POSTs the invocation as JSON, unchanged by retries', async () => {
    const { requests, invocation } = await dispatched([503, 200]);
    expect(requests).toHaveLength(2);
    for (const { method, headers, body } of requests) {
      expect([method, headers['content-type']]).toEqual(['POST', 'application/json']);
      expect(JSON.parse(body)).toEqual(invocation);
    }
  });

  test.each<[string, Reply, object]>([
    ['an endless body', response => response.writeHead(200).write('never to end'), { bodySize: 12 }],
    [
      'RT-RETRY: a body that breaks off',
      response => {
        response.writeHead(200, { 'content-length': '9' }).write('half');
        setImmediate(() => response.destroy());
      },
      {},
    ],
  ])('a tool that answered 200 has the invocation (TOOL-ASYNC): %s', async (_, reply, attempt) => {
    const { exchange, requests } = await dispatched([reply]);
    expect(requests).toHaveLength(1);
    expect(exchange).toMatchObject({ settled: null, attempts: [{ status: 200, ...attempt }] });
    expect(exchange.attempts[0]).not.toHaveProperty('excerpt');
  });

  test('an acknowledgement without a body has no size', async () => {
    const { exchange } = await dispatched([response => response.writeHead(200).end()]);
    expect(exchange.attempts[0]).not.toHaveProperty('bodySize');
  });

  test('reads only the beginning of a refusal’s body', async () => {
    const { exchange } = await dispatched([response => response.writeHead(400).end('x'.repeat(1_000_000))]);
    expect(exchange.attempts[0]?.excerpt?.length).toBeLessThanOrEqual(4_096);
  });

  test('RT-TIMEOUT: a timeout ends an unanswered request without retries', async () => {
    const { exchange, requests } = await dispatched([() => {}], { retries: 5, timeoutMs: 50 });
    expect(exchange.settled).toMatchObject({ by: 'timeout' });
    expect(requests).toHaveLength(1);
  });
});
