import { expect, test } from 'vitest';
import type { UntrackedRequest } from '../../../src/events/history.js';
import { ownHistory } from '../../../src/render/outputs/repeats.js';
import { warningsOf } from '../../../src/render/warnings.js';
import { call, exchangeOf, historyOf, INVOCATION, KEY, THREAD } from '../../events/build.js';

const untrackedRequest = (leg: string, fields: Partial<UntrackedRequest>): UntrackedRequest => ({
  leg,
  purpose: 'close',
  method: 'POST',
  url: 'http://127.0.0.1:3001/close_thread',
  calls: [],
  at: 1,
  status: 500,
  ...fields,
});

test('a call of many is reported with what was posted for it and to its thread, and with nothing else', () => {
  const history = historyOf(call());
  for (const each of [
    untrackedRequest('own', { purpose: 'cancel', calls: [KEY], thread: THREAD }),
    untrackedRequest('thread', { thread: THREAD }),
    untrackedRequest('other call', { purpose: 'cancel', calls: ['other'], thread: THREAD }),
    untrackedRequest('other thread', { thread: 'other' }),
    untrackedRequest('no one', { purpose: 'callback' }),
  ])
    history.untracked.begin(each);
  const exchange = exchangeOf(call());
  const own = ownHistory(history, exchange);
  expect([...own.untracked.values()].map(({ leg }) => leg)).toEqual(['own', 'thread']);
  expect(own.threads.get(THREAD)).toBe(history.threads.get(THREAD));
  const stranger = { ...exchange, key: 'x', invocation: { ...INVOCATION, id: 'x', group_id: 'elsewhere' } };
  expect(warningsOf(ownHistory(history, stranger), stranger)).toEqual([]);
});
