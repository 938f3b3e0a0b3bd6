import { expect, test } from 'vitest';
import type { OAuth } from '../../src/protocol/callbacks.js';
import { awaitedLine, subscriptionLine, visitLines } from '../../src/tui/live/session.js';
import {
  acknowledged,
  arrives,
  CHOICE,
  call,
  exchangeOf,
  OAUTH,
  resultArrives,
  VIEW,
} from '../events/build.js';

const said = (line: readonly { text: string }[]) => line.map(({ text }) => text).join('');
const subscription = (events: number) => ({ openedAt: 1_000, events, ended: null });
const visit = { page: OAUTH as OAuth, isUnderWay: false };

test.each([
  [0, 1_400, '… subscribed: 0 events, 400ms; Ctrl-C cancels'],
  [1, 2_999, '… subscribed: 1 event, 1s; Ctrl-C cancels'],
  [3, 73_500, '… subscribed: 3 events, 1m 12s; Ctrl-C cancels'],
])('%i events after %i ms: %s', (events, now, line) => {
  expect(said(subscriptionLine(subscription(events), now, 80))).toBe(line);
});

test.each([
  ['nothing came', [], 1_400, 60_000, '  no callback has arrived yet · 1.4 s of 60 s · Ctrl-C stops'],
  ['no limit', [], 61_250, 0, '  no callback has arrived yet · 61.2 s · Ctrl-C stops'],
  ['a view came', arrives(VIEW), 2_000, 500, '  2.0 s of 0.5 s · Ctrl-C stops'],
  ['not for long', [], 900, 60_000, null],
  ['a question came', arrives(CHOICE), 2_000, 60_000, null],
  ['the result came', resultArrives(), 2_000, 60_000, null],
])('a result that does not come: %s', (_, came, now, timeoutMs, words) => {
  const line = awaitedLine(exchangeOf(call(), acknowledged(), came), now, timeoutMs);
  expect(line && said(line)).toBe(words);
});

test('where there is no room, how it goes counts for more than the key', () => {
  expect(said(subscriptionLine(subscription(12), 73_500, 40))).toBe('… subscribed: 12 events, 1m 12s');
});

test('a page has its key, and what became of that', () => {
  expect(visitLines(null, 80).map(said)).toEqual(['o opens it   Ctrl-C cancels']);
  expect(visitLines({ ...visit, said: 'opened', isBad: false }, 80).map(said)).toEqual([
    'opened',
    'o opens it again   Ctrl-C cancels',
  ]);
  expect(visitLines({ ...visit, said: 'no\u001b[2J', isBad: true }, 80).map(said)).toEqual([
    'no␛[2J',
    'o tries again   Ctrl-C cancels',
  ]);
});
