import { expect, test } from 'vitest';
import { exchangeTimes } from '../../../src/render/outputs/check.js';
import { discovery, someCall } from '../../check/samples/parts.js';
import { at, eventsOf } from '../../events/build.js';

const [a, b] = [someCall('a'), someCall('b')];

/** A toolset from 0 to 1, and two calls, from 10 to 20 and from 15 to 30. */
const EVENTS = eventsOf(
  discovery(),
  at(10, a.sent()),
  at(15, b.sent()),
  at(20, a.cancelled().slice(0, 1)),
  at(30, b.waited()),
);
const timeOf = exchangeTimes(EVENTS);

test('a call takes from its first event to its last, whichever of them is named', () => {
  expect([timeOf([2]), timeOf([4])]).toEqual([10, 10]);
  expect(timeOf([5])).toBe(15);
});

test('anything else takes from its request to what became of it', () => {
  expect(timeOf([0])).toBe(1);
});

test('what went on at the same time counts once, and a pause between not at all', () => {
  expect(timeOf([2, 3])).toBe(20);
  expect(timeOf([2, 3, 4, 5])).toBe(20);
  expect(timeOf(EVENTS.map(({ seq }) => seq))).toBe(21);
});

test('nothing takes no time, and neither does what nobody knows', () => {
  expect([timeOf([]), timeOf([99])]).toEqual([0, 0]);
});
