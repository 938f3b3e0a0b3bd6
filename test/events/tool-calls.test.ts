import { expect, test } from 'vitest';
import { ToolCalls } from '../../src/events/tool-calls.js';
import { answered, call, eventsOf, type Moment, resultArrives } from './build.js';

const of = (key: string, moments: readonly Moment[]): Moment[] =>
  moments.map(moment => ({ ...moment, calls: [key] }));

test('calls in the order in which they came, each with what is its own', () => {
  const calls = ToolCalls.of(
    eventsOf(
      of('a', call()),
      of('b', call()),
      of('a', answered(503)),
      of('b', answered(200)),
      of('b', resultArrives()),
    ),
  );
  expect(
    calls.list.map(({ key, acknowledgement, deliveries }) => [
      key,
      acknowledgement.status,
      deliveries.length,
    ]),
  ).toEqual([
    ['a', 503, 0],
    ['b', 200, 1],
  ]);
  expect(calls.get('b')?.key).toBe('b');
  expect(calls.get('c')).toBeUndefined();
});

test('what began before is not there, whatever still happens to it', () => {
  expect(ToolCalls.of(eventsOf(of('a', answered(200)), of('a', resultArrives()))).list).toEqual([]);
});

test('all but the latest can be forgotten', () => {
  const calls = ToolCalls.of(eventsOf(of('a', call()), of('b', call()), of('c', call())));
  calls.keep(5);
  expect(calls.list).toHaveLength(3);
  calls.keep(2);
  expect(calls.list.map(({ key }) => key)).toEqual(['b', 'c']);
  calls.keep(0);
  expect(calls.list).toEqual([]);
});
