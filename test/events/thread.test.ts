import { describe, expect, test } from 'vitest';
import {
  arrives,
  at,
  call,
  closed,
  denied,
  expected,
  historyOf,
  INVOCATION,
  KEY,
  type Moment,
  THREAD,
  VIEW,
} from './build.js';

const viewArrives = (content: object, leg: string) => arrives({ ...VIEW, content }, { leg });
const threadOf = (...parts: Moment[][]) => historyOf(...parts).threads.get(THREAD);

describe('a thread', () => {
  test('has its calls, and the threads it comes from', () => {
    const invocation = { ...INVOCATION, thread_ancestors: ['root', 'parent'] };
    expect(threadOf(call({ invocation }))).toMatchObject({ calls: [KEY], ancestors: ['root', 'parent'] });
  });

  test.each([
    ['denied', denied()],
    ['made by others', expected()],
  ])('has calls that were %s too', (_, story) => {
    expect(threadOf(story)?.calls).toEqual([KEY]);
  });

  test('is closed once', () => {
    expect(threadOf(call())?.closedAt).toBeNull();
    expect(threadOf(call(), at(7, closed()), at(9, closed()))?.closedAt).toBe(7);
    expect(threadOf(call(), closed('other'))?.closedAt).toBeNull();
  });
});

describe('RT-VIEW', () => {
  test('a view is replaced by the next one of its type', () => {
    const thread = threadOf(
      call(),
      viewArrives({ patch: 'a' }, 'v1'),
      at(9, viewArrives({ patch: 'b' }, 'v2')),
    );
    expect([...(thread?.views.values() ?? [])]).toEqual([
      { type: 'diff', content: { patch: 'b' }, at: 9, call: KEY, updates: 2, size: expect.any(Number) },
    ]);
  });

  test('empty content clears it', () => {
    expect(threadOf(call(), viewArrives({ patch: 'a' }, 'v1'), viewArrives({}, 'v2'))?.views.size).toBe(0);
  });

  test('a view of an unknown type is kept as it came', () => {
    const history = historyOf(call(), arrives({ ...VIEW, view_type: 'chart', content: { a: 1 } }));
    expect(history.threads.get(THREAD)?.views.get('chart')).toMatchObject({
      type: 'chart',
      content: { a: 1 },
    });
    expect(history.first?.arrivals[0]?.verdict).toEqual({ kind: 'noted', status: 200 });
  });

  test('of very many view types, the oldest are dropped', () => {
    const many = Array.from({ length: 200 }, (_, index) =>
      arrives({ ...VIEW, view_type: `${index}`, content: { index } }, { leg: `${index}` }),
    );
    const types = [...(threadOf(call(), ...many)?.views.keys() ?? [])];
    expect([types.length, types.at(-1)]).toEqual([64, '199']);
  });

  test('of very large views, the oldest are dropped, but never the latest', () => {
    const large = (type: string) =>
      arrives({ ...VIEW, view_type: type, content: { text: 'x'.repeat(12 * 1024 * 1024) } }, { leg: type });
    const views = threadOf(call(), large('a'), large('b'), large('c'))?.views;
    expect([...(views?.keys() ?? [])]).toEqual(['b', 'c']);
  });
});
