import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Peer, startPeer } from '../e2e/support/peers.js';
import { type Callback, openRuntime, type PendingCall, type Runtime } from './runtime.mjs';

/** What the tools offer beyond one result, with the runtime that shares no code with us either. */
let plain: Peer;
let odd: Peer;
let stdlib: Peer;
let moving: Peer;
let busy: Peer;
let runtime: Runtime;
beforeAll(async () => {
  [plain, odd, stdlib, moving, busy] = await Promise.all([
    startPeer('plain'),
    startPeer('odd'),
    startPeer('stdlib'),
    startPeer('plain', { MIGRATION: 'moves' }),
    startPeer('plain', { MIGRATION: 'fails' }),
  ]);
  runtime = await openRuntime();
});
afterAll(async () => {
  runtime.close();
  await Promise.all([plain, odd, stdlib, moving, busy].map(peer => peer.stop()));
});

const isFinal = ({ body }: Callback) => body?.['final'] === true;
const texts = ({ callbacks }: PendingCall) => callbacks.map(({ body }) => body?.['text']);

describe("consent on the mock's page", () => {
  test.each([
    ['grant', 'signed in'],
    ['refuse', 'Error: access was refused. Ask for it and call again.'],
  ] as const)('%s', async (decision, text) => {
    const call = await runtime.invoke(plain.url, 'sign_in', {});
    const { body } = await call.waitFor('oauth');
    const { answer, press } = await runtime.visitConsent(String(body?.['auth_url']), decision);
    expect(answer.status).toBe(200);
    expect((await call.result()).body).toMatchObject({ text });
    expect(await press()).toMatchObject({ status: 410 });
    expect(call.verdict()).toEqual([]);
  });

  test('a canceled call still gets its result', async () => {
    const call = await runtime.invoke(plain.url, 'sign_in', {});
    await call.waitFor('oauth');
    await runtime.cancel(plain.url, call.invocation.group_id, call.invocation.id);
    expect((await call.result()).body?.['text']).toMatch(/^\{"canceled":/);
    expect(call.verdict()).toEqual([]);
  });
});

describe('an invalid choice', () => {
  test('ends in an error result', async () => {
    const call = await runtime.invoke(stdlib.url, 'ask', {});
    await call.waitFor('user_choice');
    expect(await runtime.choose(call, 'staging')).toMatchObject({ status: 400 });
    expect(await runtime.choose(call, 7)).toMatchObject({ status: 200 });
    expect((await call.result()).body?.['text']).toBe(
      'Error: 7 is not the index of one of the 3 choices. Call again.',
    );
  });
});

describe('events', () => {
  test.each(['in_turn', 'pipelined'])('a thousand %s, in order', async way => {
    const call = await runtime.invoke(plain.url, 'watch', { events: 1_000, every_ms: 0, way });
    await call.waitFor(isFinal);
    const numbers = Array.from({ length: 1_000 }, (_, index) => `Event ${index + 1} of 1000`);
    expect(texts(call)).toEqual(['Watching', ...numbers]);
    expect(call.verdict()).toEqual([]);
  });

  test('in the subscribing thread, and in others', async () => {
    const call = await runtime.invoke(plain.url, 'watch', { every_ms: 0, associative: 'every_second' });
    await call.waitFor(isFinal);
    expect(call.callbacks.map(({ body }) => body?.['associative'] ?? false)).toEqual([
      false,
      false,
      true,
      false,
    ]);
  });

  test('none after a cancel', async () => {
    const call = await runtime.invoke(plain.url, 'watch', { events: 1_000, every_ms: 250 });
    await call.waitFor('subscription_event');
    await runtime.cancel(plain.url, call.invocation.group_id, call.invocation.id);
    await runtime.closeThread(plain.url, call.invocation.group_id);
    expect(call.verdict()).toEqual([]);
    expect(call.callbacks.some(isFinal)).toBe(false);
  });

  test.each(['event_after_final', 'event_unasked'])('%s is a violation', async operation => {
    const call = await runtime.invoke(odd.url, operation, {});
    await call.waitFor(({ body }) => /after the last|no one subscribed/.test(String(body?.['text'])));
    expect(call.verdict()).toMatchObject([{ id: 'TOOL-SUB' }]);
  });

  test('events after a cancel are violations too', async () => {
    const call = await runtime.invoke(odd.url, 'deaf_events', {});
    await call.waitFor('subscription_event');
    await runtime.cancel(odd.url, call.invocation.group_id, call.invocation.id);
    await call.waitFor(({ body }) => body?.['text'] === 'Event 4');
    expect(call.faults).toContainEqual({ id: 'TOOL-SUB', why: expect.stringContaining('after the cancel') });
  });
});

describe('views', () => {
  test('replace each other and are cleared', async () => {
    const call = await runtime.invoke(plain.url, 'paint', { afterwards: 'clear' });
    await call.result();
    const views = call.callbacks.filter(({ body }) => body?.['type'] === 'view_update');
    const contents = views.map(({ body }) => JSON.stringify(body?.['content']));
    expect(contents).toEqual([...['one', 'two', 'three'].map(word => expect.stringContaining(word)), '{}']);
    expect(call.verdict()).toEqual([]);
  });
});

describe('threads', () => {
  test.each([
    [['root', 'parent'], '["root","parent"]'],
    [undefined, 'null'],
  ])('%j', async (ancestors, text) => {
    const call = await runtime.invoke(stdlib.url, 'ancestors', {}, ancestors && { ancestors });
    expect((await call.result()).body).toMatchObject({ text });
  });
});

describe('a call that is canceled while it works', () => {
  test.each([
    ['say_so', '{"canceled":{"reason":"the runtime cancelled the call","by":"user"}}'],
    ['finish', 'Worked'],
  ])('%s', async (when_cancelled, text) => {
    const call = await runtime.invoke(stdlib.url, 'work', { ms: 60_000, when_cancelled });
    await runtime.cancel(stdlib.url, call.invocation.group_id, call.invocation.id);
    expect((await call.result()).body).toMatchObject({ text });
    expect(call.verdict()).toEqual([]);
  });

  test('say_nothing', async () => {
    const args = { ms: 60_000, when_cancelled: 'say_nothing' };
    const call = await runtime.invoke(stdlib.url, 'work', args);
    await runtime.cancel(stdlib.url, call.invocation.group_id, call.invocation.id);
    await expect(call.next(100)).rejects.toThrow('received nothing');
  });
});

describe('migration', () => {
  test('migrates, or explains why not', async () => {
    expect((await runtime.discover(moving.url)).needsMigration).toBe(true);
    expect(await runtime.migrate(moving.url, 's1', plain.url)).toMatchObject({ status: 200, body: '' });
    expect(await runtime.migrate(busy.url, 's1', plain.url)).toMatchObject({
      status: 409,
      body: 'Session s1 is busy. Try again in 5 seconds.',
    });
    expect(await moving.seen('migrate')).toMatchObject({ body: { session_id: 's1' } });
    expect(runtime.faults.filter(({ id }) => id === 'TOOL-MIGRATE')).toEqual([]);
  });
});
