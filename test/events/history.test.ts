import { describe, expect, test } from 'vitest';
import {
  acknowledged,
  at,
  call,
  ENDPOINT,
  historyOf,
  INVOCATION,
  KEY,
  loaded,
  refused,
  resultArrives,
  untrackedRequest,
} from './build.js';

test('one call: discovery, exchange, notice, each in its place', () => {
  const history = historyOf(
    at(0, untrackedRequest('discovery')),
    at(4, loaded()),
    at(5, call()),
    at(6, acknowledged()),
    at(9, resultArrives()),
    at(10, untrackedRequest('close', 500)),
  );
  expect(history.toolsets).toEqual([
    { at: 4, name: 'demo', base: 'http://127.0.0.1:3001', endpoint: ENDPOINT, operations: ['edit_file'] },
  ]);
  expect([...history.exchanges.keys()]).toEqual([KEY]);
  expect(history.first?.settled?.by).toBe('result');
  expect([...history.untracked.values()]).toMatchObject([
    { purpose: 'discovery', at: 0, endedAt: 0, status: 200 },
    { purpose: 'close', at: 10, endedAt: 10, status: 500 },
  ]);
});

test.each([
  ['"Edit " + args.path', 'Edit src/main.rs'],
  ['for x in args { }', 'edit_file({"path":"src/main.rs"})'],
])('a call is shown as its display script says: %s', (script, shown) => {
  const history = historyOf(loaded({ displayScripts: { edit_file: script } }), call());
  expect(history.first?.shown).toBe(shown);
  expect(historyOf(loaded({ displayScripts: { other: script } }), call()).first).not.toHaveProperty('shown');
});

test('an untrackedRequest knows whose it is', () => {
  const selection = untrackedRequest('choice').map(moment => ({ ...moment, calls: [KEY] }));
  const history = historyOf(untrackedRequest('discovery'), call(), selection);
  expect([...history.untracked.values()].map(({ calls }) => calls)).toEqual([[], [KEY]]);
});

test('nothing has happened', () => {
  const history = historyOf();
  expect(history.first).toBeUndefined();
  expect([history.exchanges.size, history.untracked.size, history.toolsets.length]).toEqual([0, 0, 0]);
});

describe('untracked', () => {
  test('one that broke', () => {
    expect([...historyOf(untrackedRequest('cancel', null)).untracked.values()]).toMatchObject([
      { purpose: 'cancel', broken: 'ECONNREFUSED' },
    ]);
  });

  test('row 1: a post to a wrong callback address belongs to no one', () => {
    const history = historyOf(call(), refused('wrong-address', 404));
    expect(history.first?.arrivals).toEqual([]);
    expect([...history.untracked.values()]).toMatchObject([
      { purpose: 'callback', status: 404, refusal: 'wrong-address' },
    ]);
  });

  test('an invocation and a callback of a call are not one', () => {
    expect(historyOf(call(), acknowledged(), resultArrives()).untracked.size).toBe(0);
  });
});

test('RT-MATCH, row 7: an event that names no known call changes none', () => {
  const other = call({ invocation: { ...INVOCATION, id: 'other' } }).map(each => ({
    ...each,
    calls: ['other'],
  }));
  const stray = resultArrives().map(each => ({ ...each, calls: ['no one'] }));
  const history = historyOf(call(), other, stray);
  expect([...history.exchanges.keys()]).toEqual([KEY, 'other']);
  for (const { settled } of history.exchanges.values()) expect(settled).toBeNull();
});
