import { describe, expect, test } from 'vitest';
import { LIMITS } from '../../src/util/limits.js';
import {
  arrives,
  at,
  call,
  closed,
  denied,
  eventsOf,
  expected,
  fold,
  historyOf,
  INVOCATION,
  KEY,
  type Moment,
  refused,
  resultArrives,
  THREAD,
  untrackedRequest,
  VIEW,
} from './build.js';

test('RT-MATCH, row 7: an event for an unknown call changes no call', () => {
  const invocation = { ...INVOCATION, id: 'other' };
  const other = call({ invocation }).map(each => ({ ...each, calls: ['other'] }));
  const stray = resultArrives().map(each => ({ ...each, calls: ['no one'] }));
  const history = historyOf(call(), other, stray);
  expect([...history.exchanges.keys()]).toEqual([KEY, 'other']);
  for (const { settled } of history.exchanges.values()) expect(settled).toBeNull();
});

describe('a thread', () => {
  const threadOf = (...parts: Moment[][]) => historyOf(...parts).threads.get(THREAD);
  const view = (content: object, leg: string, view_type = 'diff') =>
    arrives({ ...VIEW, content, view_type }, { leg });

  test.each([
    ['sent', call({ invocation: { ...INVOCATION, thread_ancestors: ['root', 'parent'] } })],
    ['denied', denied()],
    ['sent by other programs', expected()],
  ])('has the calls that were %s, and its parent threads', (how, moments) => {
    const ancestors = how === 'sent' ? ['root', 'parent'] : [];
    expect(threadOf(moments)).toMatchObject({ calls: [KEY], ancestors, closedAt: null });
  });

  test('is closed only once', () => {
    expect(threadOf(call(), at(7, closed()), at(9, closed()))?.closedAt).toBe(7);
    expect(threadOf(call(), closed('other'))?.closedAt).toBeNull();
  });

  test('RT-VIEW: has the latest view of each type, known or not; empty content clears a view', () => {
    const thread = threadOf(
      call(),
      view({ patch: 'a' }, 'v1'),
      at(9, view({ patch: 'b' }, 'v2')),
      view({ a: 1 }, 'v3', 'chart'),
      view({ a: 1 }, 'v4', 'gone'),
      view({}, 'v5', 'gone'),
    );
    expect([...(thread?.views.values() ?? [])]).toMatchObject([
      { type: 'diff', content: { patch: 'b' }, at: 9, call: KEY, updates: 2 },
      { type: 'chart', content: { a: 1 } },
    ]);
  });

  test('row 15: drops the oldest of many view types and of large views, but never the latest', () => {
    const limit = LIMITS.eventsOfCall.value;
    const many = Array.from({ length: limit + 1 }, (_, index) => view({ index }, `${index}`, `${index}`));
    const types = [...(threadOf(call(), ...many)?.views.keys() ?? [])];
    expect([types.length, types.at(-1)]).toEqual([limit, `${limit}`]);
    const large = (type: string) => view({ text: 'x'.repeat(LIMITS.keptBytes.value * 0.4) }, type, type);
    const views = threadOf(call(), large('a'), large('b'), large('c'))?.views;
    expect([...(views?.keys() ?? [])]).toEqual(['b', 'c']);
  });
});

describe('untracked requests', () => {
  const strays = Array.from({ length: LIMITS.eventsOfCall.value }, (_, index) =>
    refused('wrong-address', 404, { leg: `l${index}` }),
  );
  const concerns = (fields: object, moments: Moment[]) => moments.map(each => ({ ...each, ...fields }));

  test('have their end; can be found by call and by thread', () => {
    const { untracked } = historyOf(
      untrackedRequest('discovery'),
      call(),
      concerns({ calls: [KEY], thread: THREAD }, untrackedRequest('cancel', null)),
      closed(),
      refused('wrong-address', 404),
    );
    expect([...untracked.values()]).toMatchObject([
      { purpose: 'discovery', status: 200 },
      { purpose: 'cancel', broken: 'ECONNREFUSED', calls: [KEY] },
      { purpose: 'close', status: 200 },
      { purpose: 'callback', status: 404, refusal: 'wrong-address' },
    ]);
    expect(untracked.ofCall(KEY).map(({ purpose }) => purpose)).toEqual(['cancel']);
    expect(untracked.ofThread(THREAD).map(({ purpose }) => purpose)).toEqual(['close']);
  });

  const limit = LIMITS.eventsOfCall.value;

  test('row 1: keeps the latest posts to wrong addresses, and counts all', () => {
    const { untracked } = fold(eventsOf(...strays, refused('wrong-address', 404, { leg: 'last' })));
    expect([untracked.values().length, untracked.misdirected, untracked.hasStrays]).toEqual([limit, 1, true]);
    expect(untracked.values().at(-1)).toMatchObject({ leg: 'last', status: 404 });
  });

  test('row 15: drops the oldest requests, and counts them apart from posts to wrong addresses', () => {
    const choice = concerns({ calls: [KEY], leg: 'c' }, untrackedRequest('choice'));
    const { untracked } = fold(eventsOf(call(), choice, ...strays, untrackedRequest('close', 500)));
    expect([untracked.ofCall(KEY), untracked.forgotten, untracked.misdirected]).toEqual([[], 1, 1]);
    expect(untracked.values().at(-1)).toMatchObject({ purpose: 'close', status: 500 });
  });
});
