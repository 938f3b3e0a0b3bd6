import { describe, expect, test } from 'vitest';
import { createLog } from '../../../src/events/log.js';
import { defineTool } from '../../../src/mock/handlers.js';
import { result } from '../../../src/mock/tool-output.js';
import { replying, watchedClock } from '../start-mock.js';
import { eventsOfKind, localTool } from './local-tool.js';

const OP = { operation: 'op', arguments: {} };

describe('seed 003', () => {
  test('return values of handlers are converted to JSON; others cause an error', async () => {
    const handlers = [
      defineTool({
        name: 'date',
        description: 'd',
        inputSchema: {},
        handle: () => ({ at: new Date(0), no: undefined }),
      }),
      defineTool({ name: 'big', description: 'b', inputSchema: {}, handle: () => ({ n: 1n }) }),
      defineTool({ name: 'list', description: 'l', inputSchema: {}, handle: () => result([] as never) }),
    ];
    await using tool = await localTool(null, { handlers });
    const call = (operation: string) => tool.call({ operation, arguments: {} });
    expect(await call('date')).toMatchObject({ payload: { at: '1970-01-01T00:00:00.000Z' } });
    expect(await call('big')).toMatchObject({ kind: 'outcome', outcome: { type: 'error' } });
    expect(await call('list')).toMatchObject({ kind: 'outcome', outcome: { type: 'error' } });
  });
});

describe('refusals', () => {
  test.each<[string, object, RegExp]>([
    [
      'an unknown operation',
      { operation: 'po', arguments: {} },
      /unknown operation "po"\. Did you mean op\?/,
    ],
    [
      'arguments that violate the schema',
      { operation: 'op', arguments: { n: 'x' } },
      /invalid arguments: \$\.n/,
    ],
    ['no operation', { operation: '', arguments: {} }, /malformed: \$\.operation/],
    ['invalid arguments', { operation: 'op', arguments: [] }, /malformed: \$\.arguments/],
    ['a call that no fixture matches', { operation: 'op', arguments: { n: 2 } }, /no fixture matches/],
  ])('TOOL-ALWAYS: %s is an error, and counts as unmatched', async (_, call, message) => {
    const inputSchema = { type: 'object', properties: { n: { type: 'integer' } } };
    await using tool = await localTool({
      toolset: { name: 't', tools: [{ name: 'op', description: 'o', inputSchema }] },
      fixtures: [{ match: { operation: 'op', arguments: { n: 1 } }, reply: { payload: 1 } }],
    });
    expect(await tool.call(call as never)).toMatchObject({
      kind: 'outcome',
      outcome: { type: 'error', message: expect.stringMatching(message) },
    });
    expect(tool.mock.verify()).toMatchObject({
      ok: false,
      unmatched: { count: 1 },
      undelivered: { count: 0 },
    });
  });
});

describe('cancellation', () => {
  test('an aborted signal ends a waiting call at once and leaves no timer', async () => {
    const clock = watchedClock();
    await using tool = await localTool(replying({ payload: 1, delay: '1h' }), { clock });
    const abort = new AbortController();
    const answer = tool.call({ ...OP, signal: abort.signal });
    await clock.nextWait();
    abort.abort();
    expect(await answer).toMatchObject({
      outcome: { type: 'canceled', reason: 'the call was canceled', by: 'user' },
    });
    expect(clock.pending()).toBe(0);
    expect([eventsOfKind(tool, 'response'), eventsOfKind(tool, 'broken')]).toMatchObject([
      [],
      [{ code: 'CANCELLED' }],
    ]);
  });

  test('close() cancels a handler that never ends', async () => {
    let began = () => {};
    const begun = new Promise<void>(resolve => {
      began = resolve;
    });
    const handle = () => {
      began();
      return new Promise(() => {});
    };
    const handlers = [defineTool({ name: 'op', description: 'o', inputSchema: {}, handle })];
    const tool = await localTool(null, { handlers });
    const answer = tool.call(OP);
    await begun;
    await tool.close({ drainMs: 0 });
    expect(await answer).toMatchObject({ outcome: { type: 'canceled', reason: 'the tool is stopping' } });
  });

  test('silence is logged at once and settles the call; a later cancel is logged too', async () => {
    await using tool = await localTool(replying({ silence: true }));
    const abort = new AbortController();
    expect(await tool.call({ ...OP, signal: abort.signal })).toEqual({
      kind: 'silence',
      sent: undefined,
    });
    abort.abort();
    expect(eventsOfKind(tool, 'request').map(({ purpose }) => purpose)).toEqual(['invocation', 'cancel']);
    expect(tool.mock.verify()).toMatchObject({ ok: true, calls: 1 });
  });
});

test('drops views and events, and does not wait for steps after the answer', async () => {
  const clock = watchedClock();
  const reply = [
    { view: { view_type: 'note', content: { a: 1 } } },
    { event: { text: 'half' }, on: 'demand' },
    { payload: 'done' },
    { event: { text: 'never' }, delay: '1h' },
  ];
  await using tool = await localTool(replying(reply), { clock });
  expect(await tool.call(OP)).toMatchObject({ text: 'done' });
  expect(clock.pending()).toBe(0);
});

describe('questions', () => {
  const choice = {
    choice: { prompt: 'Sure?', choices: ['a', 'b'], default: 1 },
    // biome-ignore lint/suspicious/noThenProperty: the word of the file format
    then: { a: { payload: 'A' }, b: { payload: 'B' } },
  };
  const consent = { oauth: { scopes: ['s'] }, granted: { payload: 'yes' }, refused: { payload: 'no' } };

  test.each([
    ['a choice uses its default', choice, 'B', 'using the default, "b"'],
    ['a consent is refused', consent, 'no', 'treated as refused'],
  ])('without a user, %s, with a warning', async (_, reply, text, warning) => {
    await using tool = await localTool(replying(reply));
    expect(await tool.call(OP)).toMatchObject({ text });
    expect(eventsOfKind(tool, 'warned')).toMatchObject([{ message: expect.stringContaining(warning) }]);
    expect(eventsOfKind(tool, 'decided')).toMatchObject([{ by: 'policy' }]);
  });

  test('a user who does not answer in time', async () => {
    const clock = watchedClock();
    const choose = () => new Promise<null>(() => {});
    await using tool = await localTool(replying({ ...choice, within: '5s' }), { choose, clock });
    const answer = tool.call(OP);
    expect(await clock.nextWait()).toBe(5_000);
    clock.advance(5_000);
    expect(await answer).toMatchObject({
      outcome: { type: 'error', message: expect.stringContaining('"Sure?" was not answered') },
    });
    expect(eventsOfKind(tool, 'expired')).toMatchObject([{ what: 'answer', afterMs: 5_000 }]);
  });
});

describe('events', () => {
  test('another log receives the decisions under its key, without the wire events', async () => {
    const log = createLog(() => 0);
    const kinds: unknown[] = [];
    log.subscribe(({ kind, calls, thread }) => kinds.push([kind, calls, thread]));
    await using tool = await localTool(replying({ payload: { token: 'abcd' } }), { log });
    await tool.call({ ...OP, key: '#1', groupId: 'session-1' });
    expect(kinds).toEqual([
      ['matched', ['#1'], 'session-1'],
      ['shaped', ['#1'], 'session-1'],
    ]);
    expect(tool.mock.verify()).toMatchObject({ ok: true, calls: 1 });
  });
});
