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
      { type: 'diff', content: { patch: 'b' }, at: 9, call: KEY, updates: 2 },
    ]);
  });

  test('empty content clears it', () => {
    expect(threadOf(call(), viewArrives({ patch: 'a' }, 'v1'), viewArrives({}, 'v2'))?.views.size).toBe(0);
  });

  test('an unknown type is ignored', () => {
    const history = historyOf(call(), arrives({ ...VIEW, view_type: 'chart', content: { a: 1 } }));
    expect(history.threads.get(THREAD)?.views.size).toBe(0);
    expect(history.first?.arrivals[0]?.verdict).toEqual({
      kind: 'ignored',
      status: 200,
      reason: 'the view type "chart" is not known here',
    });
  });
});
