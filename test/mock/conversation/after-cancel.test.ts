import { describe, expect, test } from 'vitest';
import { replying, type StartedMock, startMock, watchedClock } from '../start-mock.js';

const faults = { callback: ['after-cancel'] };

const subscribed = { result: { text: 'subscribed', subscription: true } };

const notices: [string, (mock: StartedMock) => Promise<unknown>][] = [
  ['cancel', mock => mock.runtime.cancel(mock.tool.url, 'g', 'i')],
  ['close', mock => mock.runtime.closeThread(mock.tool.url, 'g')],
];

describe.each(notices)('after-cancel: after %s the reply goes on as written', (_, send) => {
  test.each<[string, unknown, string[]]>([
    ['a late result', [{ delay: '1h', payload: 'late' }], ['late']],
    ['an event', [subscribed, { delay: '1h', event: { text: 'late' } }], ['subscribed', 'late']],
    [
      'an event on demand, and one after the final event',
      [subscribed, { on: 'demand', event: { text: 'late', final: true } }, { event: { text: 'later' } }],
      ['subscribed', 'late', 'later'],
    ],
    [
      'a result after the result that says canceled',
      [
        { delay: '1h', canceled: { by: 'user' } },
        { delay: 5, payload: 'late' },
      ],
      ['{"canceled":{"by":"user"}}', 'late'],
    ],
  ])('%s', async (_, reply, texts) => {
    await using mock = await startMock(replying(reply, { faults }));
    const call = await mock.invoke();
    if (texts.includes('subscribed')) await call.result();
    const before = call.callbacks.length;
    await send(mock);
    await call.waitFor(({ body }) => body?.['text'] === texts.at(-1));
    expect(call.callbacks.map(({ body }) => body?.['text'])).toEqual(texts);
    const plans = mock.eventsOfKind('planned').filter(({ by }) => by === 'fault');
    expect(plans.map(({ plan }) => plan)).toEqual(texts.slice(before).map(() => 'after-cancel'));
    expect(await mock.tool.verified()).toMatchObject({ ok: true });
  });
});

test('a cancel ends only the wait in progress: later steps keep their delay, and wait for their trigger', async () => {
  const clock = watchedClock();
  const events = ['first', 'second', 'third'].map(text => ({ text }));
  const reply = [
    subscribed,
    { delay: '1h', event: events[0] },
    { delay: '2s', event: events[1] },
    { on: 'demand', event: events[2] },
  ];
  await using mock = await startMock(replying(reply, { faults }), { clock });
  const call = await mock.invoke();
  expect(await clock.nextWait()).toBe(3_600_000);
  await mock.runtime.cancel(mock.tool.url, 'g', 'i');
  expect(await clock.nextWait()).toBe(2_000);
  clock.advance(2_000);
  await mock.until(({ kind }) => kind === 'planned');
  await call.waitFor(({ body }) => body?.['text'] === 'second');
  await mock.until(event => event.kind === 'planned' && event.plan === 'demand');
  expect(mock.tool.fire('i')).toBe(1);
  await call.waitFor(({ body }) => body?.['text'] === 'third');
});

test('a call that is not canceled is answered as usual; a refusal after a cancel is nothing lost', async () => {
  await using mock = await startMock(replying([{ delay: '1h', payload: 'late' }], { faults }));
  const call = await mock.runtime.invoke(
    mock.tool.url,
    'op',
    {},
    { id: 'i', groupId: 'g', callbackUrl: `${mock.tool.url}/nowhere` },
  );
  expect(call.callbacks).toEqual([]);
  await mock.runtime.cancel(mock.tool.url, 'g', 'i');
  await mock.until(({ kind }) => kind === 'dropped');
  expect(await mock.tool.verified()).toMatchObject({ ok: true, undelivered: { count: 0 } });

  await using other = await startMock(replying({ payload: 'in time' }, { faults }));
  await (await other.invoke()).result();
  expect(other.eventsOfKind('planned')).toEqual([]);
});
