import { expect, test } from 'vitest';
import { CallLog } from '../../../src/events/history.js';
import { exchangeRow } from '../../../src/tui/workbench/calls.js';
import {
  acknowledged,
  arrives,
  at,
  CHOICE,
  call,
  canceled,
  closed,
  EVENT,
  eventsOf,
  expected,
  INVOCATION,
  KEY,
  lost,
  type Moment,
  OAUTH,
  resultArrives,
} from '../../events/build.js';
import { words } from '../../support/words.js';

const NOW = 65_432;

const rowOf = (...parts: readonly (readonly Moment[])[]) => rowAt(NOW, ...parts);

function rowAt(now: number, ...parts: readonly (readonly Moment[])[]) {
  const callLog = new CallLog();
  for (const event of eventsOf(...parts)) callLog.apply(event);
  const exchange = callLog.history.exchanges.get(KEY);
  if (!exchange) throw new Error('the story has no call');
  return exchangeRow(exchange, now, callLog);
}

const sent = () => at(61_000, call());

const subscribed = [sent(), acknowledged(), at(61_400, resultArrives({ subscription: true }))];

test.each<[string, readonly (readonly Moment[])[]]>([
  ['… sent 4.4s', [sent()]],
  ['… not acknowledged: ECONNREFUSED 4.4s', [sent(), lost()]],
  ['… expected 4.4s', [at(61_000, expected())]],
  ['? asks for a choice 4.4s', [sent(), acknowledged(), arrives(CHOICE)]],
  ['? asks for consent 4.4s', [sent(), acknowledged(), arrives(OAUTH)]],
  [
    '✗ error (by convention) after 400ms',
    [sent(), acknowledged(), at(61_400, resultArrives({ text: 'Error: no' }))],
  ],
  ['… success after 400ms, 1 event so far', [...subscribed, arrives(EVENT, { leg: 'e1' })]],
  ['✓ success after 400ms, 1 event, canceled', [...subscribed, arrives(EVENT, { leg: 'e1' }), canceled()]],
  ['✓ success after 400ms, 0 events, closed', [...subscribed, closed()]],
])('the state %s', (state, parts) => {
  const { mark, cells } = rowOf(...parts);
  expect(`${mark.text} ${words(cells.state).trimEnd()}`).toBe(state);
});

test('the clock of a pending call always has the same width', () => {
  const widths = [61_000, 62_000, 62_300, 75_400, 154_500, 3_661_000].map(now => {
    const { cells } = rowAt(now, sent());
    return words(cells.state).length;
  });
  expect(new Set(widths).size).toBe(1);
});

test('threats, row 24: foreign words are safe to print and cut', () => {
  const hostile = { ...INVOCATION, operation: '\u001b[2J\n', group_id: '\u202e'.repeat(10_000) };
  const { cells } = rowOf(call({ invocation: hostile }));
  expect(words(cells.operation)).toBe('␛[2J␊');
  expect(words(cells.thread)).toMatch(/^(<U\+202E>){300}… 9700 more characters$/);
});
