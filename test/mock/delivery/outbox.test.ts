import { describe, expect, it, vi } from 'vitest';
import { createPooledClient } from '../../../src/http/pooled-client.js';
import { TransportError } from '../../../src/http/transport-error.js';
import { answer, startPeer } from '../../http/peer.js';
import { type Reply, startServing } from '../../support/serving.js';
import { callbackTo, openOutbox } from './open-outbox.js';

describe.concurrent('a delivery', () => {
  it('uses another content type, or sends slowly, if a fault demands it', async () => {
    await using runtime = await startServing(200);
    await using setup = openOutbox();
    const body = callbackTo('').body;
    const outcomes = await Promise.all([
      setup.post(callbackTo(runtime.url, { contentType: 'text/plain' })),
      setup.post(callbackTo(runtime.url, { pace: 'slow' })),
    ]);
    expect(outcomes.every(({ delivered }) => delivered)).toBe(true);
    expect(runtime.requests.map(({ headers }) => headers['content-type'])).toEqual([
      'text/plain',
      'application/json',
    ]);
    expect(runtime.requests[1]?.body).toBe(Buffer.from(body.bytes).toString());
  });
});

describe('delivery faults: retries', () => {
  it.each<[string, Reply[], string[]]>([
    ['after a 5xx', [503, 500, 200], ['request 1', 'response 503', 'request 2', 'response 500', 'request 3']],
    ['after a reset', ['reset', 200], ['request 1', 'broken ECONNRESET', 'request 2']],
  ])('%s, with the same bytes', async (_, replies, failures) => {
    await using runtime = await startServing(...replies);
    await using setup = openOutbox();
    const delivery = setup.post(callbackTo(runtime.url));
    await vi.waitFor(() => {
      setup.clock.advance(0);
      expect(setup.summary()).toEqual([...failures, 'response 200']);
    });
    expect(await delivery).toEqual({ delivered: true, status: 200, attempts: replies.length });
    expect(new Set(runtime.requests.map(({ body }) => body)).size).toBe(1);
  });

  it('row 33: an attempt for which no file can be opened is not one of the retries', async () => {
    const codes = ['EMFILE', 'ECONNRESET', 'ENFILE', 'EMFILE', 'ECONNRESET'];
    const send = async () => {
      const code = codes.shift();
      if (code) throw new TransportError('connect', code, code);
      return { status: 200, headers: {}, body: new Uint8Array() };
    };
    await using setup = openOutbox({ client: { send, close: async () => {} }, retries: 2 });
    const delivery = setup.post(callbackTo('http://127.0.0.1:9'));
    await vi.waitFor(() => {
      setup.clock.advance(0);
      expect(setup.summary()).toContain('response 200');
    });
    expect(await delivery).toEqual({ delivered: true, status: 200, attempts: 6 });
  });

  it('does not retry an error of its own', async () => {
    await using setup = openOutbox();
    const cancelReason = vi.fn<() => string | null>(() => 'asked again');
    cancelReason.mockImplementationOnce(() => {
      throw new Error('our own');
    });
    const delivery = setup.outbox.post(callbackTo('http://127.0.0.1:9', { cancelReason }));
    await expect(delivery).rejects.toThrow('our own');
  });

  it('waits with full jitter, longer each time', async () => {
    await using runtime = await startServing(500, 500, 200);
    await using setup = openOutbox({ random: () => 0.5 });
    const delivery = setup.post(callbackTo(runtime.url));
    for (const pause of [100, 200]) {
      await vi.waitFor(() => expect(setup.clock.pending()).toBe(1));
      const before = setup.summary();
      setup.clock.advance(pause - 1);
      expect([setup.clock.pending(), setup.summary()]).toEqual([1, before]);
      setup.clock.advance(1);
      expect(setup.clock.pending()).toBe(0);
    }
    expect(await delivery).toMatchObject({ delivered: true, attempts: 3 });
  });

  it('respects Retry-After, within the limit', async () => {
    const busy = (seconds: string) => answer(503, '', `Retry-After: ${seconds}`);
    const replies = [busy('3'), busy('3600'), answer(200, '')];
    await using runtime = await startPeer(socket => void socket.write(replies.shift() ?? ''));
    await using setup = openOutbox({ maxPauseMs: 5_000 });
    const delivery = setup.post(callbackTo(runtime.url));
    for (const pause of [3_000, 5_000]) {
      await vi.waitFor(() => expect(setup.clock.pending()).toBe(1));
      setup.clock.advance(pause - 1);
      expect(setup.clock.pending()).toBe(1);
      setup.clock.advance(1);
    }
    expect(await delivery).toMatchObject({ delivered: true, attempts: 3 });
  });

  it('reports how the first attempt failed, if the last one failed otherwise', async () => {
    await using runtime = await startServing(500, 503);
    await using setup = openOutbox({ retries: 1, random: () => 0.5 });
    const delivery = setup.post(callbackTo(runtime.url));
    await vi.waitFor(() => expect(setup.clock.pending()).toBe(1));
    setup.clock.advance(1_000);
    const why = 'at first, the runtime answered 500; at last, the runtime answered 503; attempts: 2';
    expect(await delivery).toEqual({ delivered: false, why, attempts: 2 });
  });

  it('stops after the maximum number of retries, with a report', async () => {
    await using runtime = await startServing(503);
    await using setup = openOutbox({ retries: 0 });
    const why = 'the runtime answered 503; attempts: 1';
    expect(await setup.post(callbackTo(runtime.url))).toEqual({
      delivered: false,
      why,
      attempts: 1,
    });
    expect(setup.summary()).toEqual(['request 1', 'response 503', 'dropped']);
    expect(setup.events[2]).toMatchObject({
      what: 'callback',
      why,
      calls: ['c1'],
      thread: 'g',
      leg: 'l1',
      count: 1,
    });
  });
});

describe('delivery faults: does not retry', () => {
  it('after a 4xx; row 11: does not follow a redirect; reports both', async () => {
    const statuses = [400, 401, 404, 408, 413, 429, 301, 302, 303, 307, 308];
    await using runtime = await startServing(...statuses);
    await using setup = openOutbox();
    for (const status of statuses) {
      const about = status < 400 ? 'redirects are not followed' : 'not retried';
      const why = `the runtime answered ${status}; ${about}`;
      expect(await setup.post(callbackTo(runtime.url))).toEqual({ delivered: false, why, attempts: 1 });
    }
    expect(setup.summary()).toEqual(
      statuses.flatMap(status => ['request 1', `response ${status}`, 'dropped']),
    );
    expect(setup.events[1]).toMatchObject({ headers: { location: '/elsewhere' } });
    expect(runtime.requests).toHaveLength(statuses.length);
  });

  it('row 9: refuses a forbidden address without a request', async () => {
    await using setup = openOutbox();
    const delivery = await setup.post(callbackTo('http://169.254.169.254/t0ken'));
    const why = '169.254.169.254 is a link-local address; callbacks to this address are refused';
    expect(delivery).toEqual({ delivered: false, why, attempts: 0 });
    expect(setup.events).toEqual([
      expect.objectContaining({ kind: 'dropped', what: 'callback', why, calls: ['c1'], type: 'tool_result' }),
    ]);
  });

  it('row 10: refuses an allowed name that now resolves to a refused address', async () => {
    const addresses = ['127.0.0.1', '169.254.169.254'];
    const resolve = async () => addresses.splice(0, 1).map(address => ({ address, family: 4 }));
    await using runtime = await startPeer(answer(200, '', 'Connection: close'));
    await using setup = openOutbox({
      client: createPooledClient({ resolve }),
      destinationProblem: () => null,
    });
    const callback = callbackTo(`http://runtime.example:${runtime.port}/`);
    expect(await setup.post(callback)).toMatchObject({ delivered: true });
    expect(await setup.post(callback)).toEqual({
      delivered: false,
      why: '169.254.169.254 is a link-local address',
      attempts: 1,
    });
    expect(setup.summary().slice(2)).toEqual(['request 1', 'broken REFUSED_ADDRESS', 'dropped']);
    expect(runtime.requests).toHaveLength(1);
  });
});
