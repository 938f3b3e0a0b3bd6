import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Exchange } from '../../src/events/exchange.js';
import { llmTextOf, outcomeOf } from '../../src/events/exchange.js';
import type { Toolset } from '../../src/protocol/toolset.js';
import { checkArguments, toolOf } from '../../src/runtime/check-call.js';
import { type Connection, connect } from '../../src/runtime/connect.js';
import { fieldOf, type Peer, startPeer } from '../e2e/support/peers.js';

let stdlib: Peer;
let plain: Peer;
let asking: Connection;
let watching: Connection;
beforeAll(async () => {
  [stdlib, plain] = await Promise.all([startPeer('stdlib'), startPeer('plain')]);
  [asking, watching] = await Promise.all([connect(stdlib.url), connect(plain.url)]);
});
afterAll(async () => {
  await Promise.all([asking.close(), watching.close()]);
  await Promise.all([stdlib.stop(), plain.stop()]);
});

describe('a tool that asks a question', () => {
  test('RT-CHOICE: gets the answer of the caller', async () => {
    const exchange = await asking.invoke(
      'ask',
      {},
      { choose: ({ choices }) => choices.indexOf('production') },
    );
    expect(llmTextOf(exchange)).toBe('Chosen: production');
    expect(exchange.selections).toMatchObject([{ by: 'policy', selected: 1 }]);
  });

  test('the call resolves with its open question if nothing answers it', async () => {
    const { settled, waitingFor } = await asking.invoke('ask', {});
    expect(settled).toBeNull();
    expect(waitingFor).toMatchObject({ type: 'user_choice', choices: expect.arrayContaining(['staging']) });
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('no idea');
      },
    ],
    ['returns an invalid choice', () => 7],
  ])('and also if the caller %s', async (_, choose) => {
    const { settled, selections } = await asking.invoke('ask', {}, { choose });
    expect([settled, selections]).toEqual([null, []]);
  });
});

describe('a subscription', () => {
  test('RT-SUB: is followed until its last event', async () => {
    const { subscription } = await watching.invoke('watch', { events: 3 }, { follow: true });
    expect(subscription).toMatchObject({ events: 3, ended: { by: 'final' } });
  });

  test('is not followed by default', async () => {
    const exchange = await watching.invoke('watch', { events: 2, every_ms: 60_000 });
    expect(outcomeOf(exchange)?.type).toBe('success');
    expect(exchange.subscription).toMatchObject({ ended: null });
  });
});

describe('closing the connection', () => {
  /** A connection that is closed when the condition holds for its call. */
  async function closedOnce(has: (exchange: Exchange) => boolean) {
    const closed: Promise<void>[] = [];
    const connection = await connect(plain.url, {
      onEvent: () => {
        const call = connection.history.first;
        if (closed.length === 0 && call && has(call)) closed.push(connection.close());
      },
    });
    return { connection, closed };
  }
  const isNotified = (id: string) =>
    plain.seen('cancel_tool_call', entry => fieldOf(entry, 'tool_call_id') === id);

  test('ends a followed subscription, also in a thread of the caller; the tool is notified', async () => {
    const { connection, closed } = await closedOnce(({ subscription }) => subscription !== null);
    const settings = { follow: true, id: 'followed', groupId: 'theirs' };
    const exchange = await connection.invoke('watch', { events: 2, every_ms: 60_000 }, settings);
    expect(exchange.subscription).toMatchObject({ ended: { by: 'cancel' } });
    await Promise.all([...closed, isNotified('followed')]);
  });

  test('RT-NOTIFY: closes the thread that it was given, also at a tool that was not called', async () => {
    const connections = await Promise.all(
      [plain, stdlib].map(({ url }) => connect(url, { groupId: 'shared' })),
    );
    const [first] = connections;
    const exchange = await first?.invoke('echo', { text: 'hi' });
    expect(exchange?.invocation.group_id).toBe('shared');
    await Promise.all(connections.map(connection => connection.close()));
    const closed = (peer: Peer) =>
      peer.seen('close_thread', entry => fieldOf(entry, 'thread_id') === 'shared');
    await Promise.all([closed(plain), closed(stdlib)]);
  });

  test('cancels a pending call and notifies the tool', async () => {
    const { connection, closed } = await closedOnce(({ attempts }) => attempts[0]?.status === 200);
    const exchange = await connection.invoke('slow', { ms: 60_000 }, { timeoutMs: 0, id: 'forgotten' });
    expect(exchange.settled).toMatchObject({ by: 'cancel' });
    await Promise.all([...closed, isNotified('forgotten')]);
  });
});

test('an unknown operation is never sent', async () => {
  await expect(watching.invoke('nothing_like_it', {})).rejects.toMatchObject({ code: 'unknown-operation' });
});

const tool = (inputSchema: Record<string, unknown>) => ({ name: 'edit_file', description: '', inputSchema });
const TOOLSET: Toolset = {
  name: 'demo\u202e',
  endpoint: 'http://127.0.0.1/',
  needsMigration: false,
  tools: [tool({}), { ...tool({}), name: 'deploy' }],
};

describe('RT-OP', () => {
  test.each([['__proto__', 'Available: edit_file, deploy.']])(
    '%s is not found, and the available names are reported',
    (operation, hint) => {
      expect(() => toolOf(TOOLSET, operation)).toThrow(
        expect.objectContaining({
          code: 'unknown-operation',
          message: `no operation "${operation}" in the toolset demo<U+202E>`,
          hint,
        }),
      );
    },
  );
});

describe('RT-ARGS', () => {
  test('a mismatched format is only a warning', async () => {
    const inputSchema = { properties: { to: { format: 'email' } } };
    expect(await checkArguments(tool(inputSchema), { to: 'no one' })).toEqual([
      { message: 'the argument $.to does not look like an email (format)' },
    ]);
  });

  test.each([
    ['row 22', { properties: { path: { pattern: '^(a|a)*$' } } }, /took longer than 250 ms/],
    ['row 23', { $ref: 'http://127.0.0.1:1/x\u202e' }, /can't resolve reference .*<U\+202E>/],
  ])('%s: an unusable schema is a warning and does not prevent the call', async (_, inputSchema, message) => {
    expect(await checkArguments(tool(inputSchema), { path: `${'a'.repeat(40)}b` })).toEqual([
      { id: 'RT-ARGS', message: expect.stringMatching(message) },
    ]);
  });
});

test('a toolset without tools is reported as empty', () => {
  const empty = { name: 'empty', endpoint: 'http://h/', tools: [], needsMigration: false };
  expect(() => toolOf(empty, 'x')).toThrow(expect.objectContaining({ hint: 'It has none at all.' }));
});
