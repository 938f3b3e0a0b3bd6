import { describe, expect, test } from 'vitest';
import { type Errand, Errands } from '../../src/events/history.js';
import { errand, eventsOf, fold, historyOf, KEY, refused, THREAD } from './build.js';

const errandOf = (leg: string, fields: Partial<Errand> = {}): Errand => ({
  leg,
  purpose: 'close',
  method: 'POST',
  url: 'http://127.0.0.1:3001/close_thread',
  calls: [],
  at: 1,
  ...fields,
});
const many = (count: number) => Array.from({ length: count }, (_, index) => `l${index}`);
const legs = (errands: Iterable<Errand>) => [...errands].map(({ leg }) => leg);

test('they are found by whose they are', () => {
  const errands = new Errands();
  errands.begin(errandOf('call', { purpose: 'cancel', calls: [KEY], thread: THREAD }));
  errands.begin(errandOf('thread', { thread: THREAD }));
  errands.begin(errandOf('namesake', { thread: KEY }));
  errands.begin(errandOf('nobody', { purpose: 'discovery' }));
  expect(legs(errands.ofCall(KEY))).toEqual(['call']);
  expect(legs(errands.ofThread(THREAD))).toEqual(['thread']);
  expect(legs(errands.values())).toEqual(['call', 'thread', 'namesake', 'nobody']);
  expect(errands.hasStrays).toBe(false);
});

test('an end belongs to an errand that has begun', () => {
  const errands = new Errands();
  errands.begin(errandOf('a'));
  errands.end('a', { endedAt: 3, status: 200 });
  errands.end('b', { endedAt: 3, status: 200 });
  expect([...errands.values()]).toEqual([errandOf('a', { endedAt: 3, status: 200 })]);
});

describe('of very many not all are kept', () => {
  test('row 1: of posts that are nobody’s the first, and each until it is told', () => {
    const history = historyOf();
    const seen: (number | undefined)[] = [];
    for (const event of eventsOf(...many(2_000).map(leg => refused('wrong-address', 404, { leg })))) {
      history.apply(event);
      if (event.kind === 'response') seen.push(history.errands.get(event.leg)?.status);
    }
    expect(seen).toEqual(Array(2_000).fill(404));
    expect(history.errands.size).toBe(501);
    expect(legs(history.errands.values()).slice(0, 500)).toEqual(many(500));
    expect([history.errands.misdirected, history.errands.forgotten]).toEqual([1_499, 0]);
  });

  test('of a call’s the latest, however many calls there are', () => {
    const errands = new Errands();
    for (const leg of many(1_000)) errands.begin(errandOf(leg, { purpose: 'choice', calls: [KEY] }));
    for (const leg of many(1_000)) errands.begin(errandOf(`${leg} of its own`, { calls: [leg] }));
    expect(legs(errands.ofCall(KEY))).toEqual(many(1_000).slice(800));
    expect([errands.size, errands.forgotten]).toEqual([1_200, 800]);
  });

  test('a flood of posts does not hide what became of a notice', () => {
    const flood = many(2_000).map(leg => refused('wrong-address', 404, { leg }));
    const { errands } = fold(eventsOf(...flood, errand('close', 500)));
    expect([...errands.values()].at(-1)).toMatchObject({ purpose: 'close', status: 500 });
  });
});
