import { expect, test } from 'vitest';
import { renumbered } from '../../src/events/call-log.js';
import type { Event } from '../../src/events/events.js';
import { acknowledged, call, eventsOf } from './build.js';

const STORY: readonly Event[] = [
  ...eventsOf(call(), acknowledged()),
  { kind: 'decided', what: 'choice', by: 'person', value: 1, question: 'b1', seq: 9, at: 3 },
];

test('one recording is left as it is', () => {
  expect(renumbered([STORY])).toEqual([STORY.map((event, seq) => (seq < 2 ? event : { ...event, seq: 9 }))]);
  expect(renumbered([])).toEqual([]);
});

test('the numbers go on from one to the next, an empty one included', () => {
  const numbers = renumbered([STORY, [], STORY]).map(events => events.map(({ seq }) => seq));
  expect(numbers).toEqual([[0, 1, 9], [], [10, 11, 19]]);
});

test('a leg of one is none of another, and still its own', () => {
  const [first = [], second = []] = renumbered([STORY, STORY]);
  const legsOf = (events: readonly Event[]) =>
    events.flatMap(event => ('leg' in event ? (event.leg ?? []) : []));
  expect(legsOf(first)).toEqual(legsOf(STORY));
  expect(new Set(legsOf(second)).size).toBe(new Set(legsOf(STORY)).size);
  expect(legsOf(first).filter(leg => legsOf(second).includes(leg))).toEqual([]);
  expect(second[2]).toMatchObject({ question: '2/b1' });
});
