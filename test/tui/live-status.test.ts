import { expect, test } from 'vitest';
import { History } from '../../src/events/history.js';
import { liveStateOf } from '../../src/tui/live/state.js';
import { statusLines } from '../../src/tui/live/status.js';
import {
  acknowledged,
  arrives,
  CHOICE,
  call,
  eventsOf,
  type Moment,
  RESULT,
  resultArrives,
  VIEW,
} from '../events/build.js';
import { words } from '../support/words.js';

/** What stands below the steps, so many ms after the start. */
function statusAfter(
  now: number,
  columns: number,
  timeoutMs: number,
  ...parts: readonly (readonly Moment[])[]
) {
  const history = new History();
  for (const event of eventsOf(...parts)) history.apply(event);
  const state = { ...liveStateOf({ columns, rows: 24 }), now };
  return statusLines(state, history.first, timeoutMs).map(words);
}

test.each([
  ['nothing came', [], 1_400, 60_000, ['  no callback has arrived yet · 1.4 s of 60 s · Ctrl-C stops']],
  ['no limit', [], 61_250, 0, ['  no callback has arrived yet · 61.2 s · Ctrl-C stops']],
  ['a view came', arrives(VIEW), 2_000, 500, ['  2.0 s of 0.5 s · Ctrl-C stops']],
  ['not for long', [], 900, 60_000, []],
  ['a question came', arrives(CHOICE), 2_000, 60_000, []],
  ['the result came', resultArrives(), 2_000, 60_000, []],
])('while waiting for the result: %s', (_, came, now, timeoutMs, lines) => {
  expect(statusAfter(now, 80, timeoutMs, call(), acknowledged(), came)).toEqual(lines);
});

test.each([
  [500, 80, /^… subscribed: 0 events, \d+ms; Ctrl-C cancels$/],
  [3_500, 80, /^… subscribed: 0 events, 3s; Ctrl-C cancels$/],
  [73_500, 30, /^… subscribed: 0 events, 1m 13s$/],
])('a subscription after %i ms at %i columns', (now, columns, words) => {
  const parts = [call(), acknowledged(), arrives({ ...RESULT, subscription: true })];
  expect(statusAfter(now, columns, 0, ...parts)).toEqual([expect.stringMatching(words)]);
});
