import { expect, test } from 'vitest';
import { replying, replyingEach, startMock } from '../start-mock.js';

const ids = '"group_id":"g","id":"i"';
const end = { payload: 'end' };

const MESSAGES: readonly (readonly [what: string, reply: unknown, raw: string])[] = [
  ['a bogus type', [{ result: { type: 'bogus', a: 1 } }, end], `{"type":"bogus",${ids},"a":1}`],
  [
    'the id of another call',
    { result: { id: 'other' } },
    '{"type":"tool_result","group_id":"g","id":"other"}',
  ],
  ['an id that is a number', { result: { id: 5 } }, '{"type":"tool_result","group_id":"g","id":5}'],
  ['a text that is null', { result: { text: null } }, `{"type":"tool_result",${ids},"text":null}`],
  [
    'a question without choices',
    [{ result: { type: 'user_choice', prompt: 'p', choices: [] } }, end],
    `{"type":"user_choice",${ids},"prompt":"p","choices":[]}`,
  ],
  [
    'an event of another subscription',
    [{ result: { type: 'subscription_event', tool_call_id: 'other' } }, end],
    `{"type":"subscription_event",${ids},"tool_call_id":"other"}`,
  ],
  [
    'a message without ids',
    [{ message: { type: 'tool_result', text: 'for {{id}}' } }, { silence: true }],
    '{"type":"tool_result","text":"for i"}',
  ],
  [
    'a recorded message with a long number',
    [{ message: { id: '{{id}}', n: 1 }, recorded: '{"id":"a","n":1.0e0}' }, end],
    '{"id":"i","n":1.0e0}',
  ],
  ['an empty object', [{ message: {} }, end], '{}'],
  ['a list', [{ message: [{ type: 'tool_result' }] }, end], '[{"type":"tool_result"}]'],
  ['a text', [{ message: 'text' }, end], '"text"'],
  ['null', [{ message: null }, end], 'null'],
];

test('result and message can send anything', async () => {
  await using mock = await startMock(replyingEach(MESSAGES.map(([, reply]) => reply)));
  for (const [n, [what, , raw]] of MESSAGES.entries()) {
    const call = await mock.invoke({ operation: `op${n}` });
    expect([what, (await call.next()).raw]).toEqual([what, raw]);
  }
  expect(await mock.tool.verified()).toMatchObject({ ok: true });
});

test('faults apply to a message: ids are changed where it has them', async () => {
  const event = { type: 'subscription_event', group_id: 'g', tool_call_id: 'i', text: 'x' };
  const reply = [{ message: null }, { message: 7 }, { message: event }, end];
  const faults = { callback: ['wrong-id', 'wrong-group'] };
  await using mock = await startMock(replying(reply, { faults }));
  const call = await mock.invoke();
  const raw = [await call.next(), await call.next(), await call.next()].map(each => each.raw);
  const changed = { ...event, group_id: 'unknown-thread', tool_call_id: 'unknown-id' };
  expect(raw).toEqual(['null', '7', JSON.stringify(changed)]);
});

test('a runtime may refuse a message, but not the result after it', async () => {
  await using mock = await startMock(replying([{ message: null }, { message: {} }, end]));
  await using refusing = await startMock(replying(end)); // as a callback URL
  const callbackUrl = `${refusing.tool.url}/nowhere`;
  await mock.invoke({ callbackUrl });
  const { undelivered } = await mock.tool.verified();
  expect(undelivered).toMatchObject({ count: 1, examples: [{ type: 'tool_result' }] });
});

test('several results, and events after the final one, are sent in order', async () => {
  const reply = [
    { result: { text: 'one', subscription: true } },
    { event: { text: 'two', final: true } },
    { event: { text: 'three' } },
    { result: { text: 'four' } },
  ];
  await using mock = await startMock(replying(reply));
  const call = await mock.invoke();
  const texts = [];
  for (const _ of reply) texts.push((await call.next()).body?.['text']);
  expect(texts).toEqual(['one', 'two', 'three', 'four']);
  expect(await mock.tool.verified()).toMatchObject({ ok: true });
});

test('pause() and resume() send callbacks of several calls at the same moment', async () => {
  await using mock = await startMock(replying({ payload: 'done' }, { faults: { callback: ['duplicate'] } }));
  mock.tool.pause();
  const calls = [await mock.invoke({ id: 'a' }), await mock.invoke({ id: 'b' })];
  await mock.until(() => mock.eventsOfKind('planned').length === 2);
  expect(mock.eventsOfKind('request').filter(({ purpose }) => purpose === 'callback')).toEqual([]);
  mock.tool.resume();
  await Promise.all(calls.map(call => call.result()));
  const sent = mock.tool.events.filter(event => event.kind === 'request' && event.purpose === 'callback');
  const [first, second] = sent.map(({ seq }) => seq);
  expect(
    mock.eventsOfKind('response').filter(({ seq }) => seq > (first ?? 0) && seq < (second ?? 0)),
  ).toEqual([]);
});
