import { describe, expect, test } from 'vitest';
import { type UntrackedRequest, UntrackedRequests } from '../../src/events/history.js';
import { eventsOf, fold, historyOf, KEY, refused, THREAD, untrackedRequest } from './build.js';

const requestOf = (leg: string, fields: Partial<UntrackedRequest> = {}): UntrackedRequest => ({
  leg,
  purpose: 'close',
  method: 'POST',
  url: 'http://127.0.0.1:3001/close_thread',
  calls: [],
  at: 1,
  ...fields,
});
const many = (count: number) => Array.from({ length: count }, (_, index) => `l${index}`);
const legs = (untracked: Iterable<UntrackedRequest>) => [...untracked].map(({ leg }) => leg);

test('they are found by call and by thread', () => {
  const untracked = new UntrackedRequests();
  untracked.begin(requestOf('call', { purpose: 'cancel', calls: [KEY], thread: THREAD }));
  untracked.begin(requestOf('thread', { thread: THREAD }));
  untracked.begin(requestOf('namesake', { thread: KEY }));
  untracked.begin(requestOf('no one', { purpose: 'discovery' }));
  expect(legs(untracked.ofCall(KEY))).toEqual(['call']);
  expect(legs(untracked.ofThread(THREAD))).toEqual(['thread']);
  expect(legs(untracked.values())).toEqual(['call', 'thread', 'namesake', 'no one']);
  expect(untracked.hasStrays).toBe(false);
});

describe('limits', () => {
  test('row 1: the first posts outside calls are kept, and each until the event after its response', () => {
    const history = historyOf();
    const seen: (number | undefined)[] = [];
    for (const event of eventsOf(...many(2_000).map(leg => refused('wrong-address', 404, { leg })))) {
      history.apply(event);
      if (event.kind === 'response') seen.push(history.untracked.get(event.leg)?.status);
    }
    expect(seen).toEqual(Array(2_000).fill(404));
    expect(history.untracked.size).toBe(501);
    expect(legs(history.untracked.values()).slice(0, 500)).toEqual(many(500));
    expect([history.untracked.misdirected, history.untracked.forgotten]).toEqual([1_499, 0]);
  });

  test('of each call the latest are kept', () => {
    const untracked = new UntrackedRequests();
    for (const leg of many(1_000)) untracked.begin(requestOf(leg, { purpose: 'choice', calls: [KEY] }));
    for (const leg of many(1_000)) untracked.begin(requestOf(`${leg} of its own`, { calls: [leg] }));
    expect(legs(untracked.ofCall(KEY))).toEqual(many(1_000).slice(800));
    expect([untracked.size, untracked.forgotten]).toEqual([1_200, 800]);
  });

  test('a flood of posts does not hide what became of a notice', () => {
    const flood = many(2_000).map(leg => refused('wrong-address', 404, { leg }));
    const { untracked } = fold(eventsOf(...flood, untrackedRequest('close', 500)));
    expect([...untracked.values()].at(-1)).toMatchObject({ purpose: 'close', status: 500 });
  });
});
