import { describe, expect, it, vi } from 'vitest';
import { startPeer } from '../../http/peer.js';
import { startServing } from '../../support/serving.js';
import { callbackTo, openOutbox } from './open-outbox.js';

const hanging = () => startPeer(() => {});

describe('a bad receiver does not block others', () => {
  it('delivery faults: on the same origin, a path that hangs frees its slots when the attempt times out', async () => {
    await using runtime = await startServing((response, { url }) => {
      if (url === '/good') response.end();
    });
    await using setup = openOutbox({ perOrigin: 4, timeoutMs: 500, random: () => 0.5 });
    for (let i = 0; i < 4; i++) void setup.post(callbackTo(`${runtime.url}hangs`));
    const began = performance.now();
    await setup.post(callbackTo(`${runtime.url}good`));
    expect(performance.now() - began).toBeGreaterThan(250);
    expect(setup.summary().filter(word => word === 'request 2')).toEqual([]);
  });
});

describe('the queue', () => {
  it('counts everything pending; drops and reports what exceeds the limit', async () => {
    await using runtime = await hanging();
    await using setup = openOutbox({ queueLimit: 3, perOrigin: 1 });
    for (let i = 0; i < 3; i++) void setup.post(callbackTo(runtime.url));
    const why = 'the queue is full: 3 callbacks pending';
    expect(await setup.post(callbackTo(runtime.url, {}, 'c2'))).toEqual({
      delivered: false,
      why,
      attempts: 0,
    });
    expect(setup.events.filter(({ kind }) => kind === 'dropped')).toEqual([
      expect.objectContaining({ why, type: 'tool_result' }),
    ]);
    expect(setup.outbox.pending).toBe(3);
  });

  it('never has more open requests to an origin than it has slots', async () => {
    await using runtime = await startServing(200);
    await using setup = openOutbox({ perOrigin: 3 });
    await Promise.all(Array.from({ length: 30 }, () => setup.post(callbackTo(runtime.url))));
    const onTheWay = setup.events.map(
      (_, index) =>
        2 * setup.events.slice(0, index + 1).filter(({ kind }) => kind === 'request').length - index - 1,
    );
    expect(Math.max(...onTheWay)).toBe(3);
  });
});

it('a finished request frees one slot, not those of requests that hang', async () => {
  await using runtime = await startServing((response, { url }) => {
    if (url === '/good') response.end();
  });
  await using setup = openOutbox({ perOrigin: 2, timeoutMs: 60_000 });
  void setup.post(callbackTo(`${runtime.url}hangs`));
  await setup.post(callbackTo(`${runtime.url}good`));
  for (let n = 0; n < 2; n++) void setup.post(callbackTo(`${runtime.url}hangs`));
  await vi.waitFor(() => expect(runtime.requests).toHaveLength(3));
  expect(setup.summary().filter(word => word === 'request 1')).toHaveLength(3);
});

describe('a pause', () => {
  it('starts no request until it ends', async () => {
    await using runtime = await startServing(200);
    await using setup = openOutbox();
    setup.outbox.pause();
    const deliveries = [1, 2, 3].map(() => setup.post(callbackTo(runtime.url)));
    await new Promise(setImmediate);
    expect([setup.events, setup.outbox.pending]).toEqual([[], 3]);
    setup.outbox.resume();
    expect((await Promise.all(deliveries)).every(({ delivered }) => delivered)).toBe(true);
  });
});

describe('shutdown', () => {
  it('when hurried, retries waiting callbacks once, at once', async () => {
    await using runtime = await startServing(500);
    await using setup = openOutbox({ retries: 9, random: () => 0.5 });
    const delivery = setup.post(callbackTo(runtime.url));
    await vi.waitFor(() => expect(setup.clock.pending()).toBe(1));
    setup.outbox.endPauses();
    const why = 'the tool was stopped before it was delivered: the runtime answered 500';
    expect(await delivery).toEqual({ delivered: false, why, attempts: 2 });
    expect(setup.clock.pending()).toBe(0);
  });

  it('drops and reports everything that is left', async () => {
    await using busy = await startServing(500);
    await using mute = await hanging();
    await using setup = openOutbox({ perOrigin: 1, timeoutMs: 60_000, random: () => 0.5 });
    const waiting = setup.post(callbackTo(busy.url, {}, 'waits'));
    await vi.waitFor(() => expect(setup.clock.pending()).toBe(1));
    const others = ['under way', 'queued'].map(key => setup.post(callbackTo(mute.url, {}, key)));
    await vi.waitFor(() => expect(mute.requests).toHaveLength(1));
    await setup.outbox.close();
    const why = 'the tool was stopped before it was delivered';
    expect(await Promise.all([waiting, ...others])).toEqual([
      { delivered: false, why, attempts: 1 },
      { delivered: false, why: expect.stringMatching(`^${why}: .`), attempts: 1 },
      { delivered: false, why, attempts: 0 },
    ]);
    const dropped = setup.events.filter(({ kind }) => kind === 'dropped');
    expect(dropped.flatMap(({ calls = [] }) => calls).sort()).toEqual(['queued', 'under way', 'waits']);
    expect(await setup.post(callbackTo(busy.url))).toEqual({ delivered: false, why, attempts: 0 });
  });
});
