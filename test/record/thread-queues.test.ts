import { expect, test } from 'vitest';
import { ThreadQueues } from '../../src/record/ordering.js';
import { fakeClock } from '../support/fake-clock.js';

/** Lets everything that is due happen. */
const settle = () => new Promise(setImmediate);

function lanes() {
  const clock = fakeClock();
  const queue = new ThreadQueues(clock, 100);
  const begun: string[] = [];
  const enter = (lane: string, name: string) => {
    const place = queue.enter(lane);
    void place.turn.then(() => begun.push(name));
    return place;
  };
  return { clock, begun, enter };
}

test('in one lane each waits for the one before, in the order in which they came', async () => {
  const { begun, enter } = lanes();
  const first = enter('a', 'first');
  const second = enter('a', 'second');
  enter('a', 'third');
  await settle();
  expect(begun).toEqual(['first']);
  first.leave();
  await settle();
  expect(begun).toEqual(['first', 'second']);
  second.leave();
  await settle();
  expect(begun).toEqual(['first', 'second', 'third']);
});

test('lanes do not wait for each other', async () => {
  const { begun, enter } = lanes();
  enter('a', 'a');
  enter('b', 'b');
  await settle();
  expect(begun).toEqual(['a', 'b']);
});

test('who takes too long holds up no one any longer', async () => {
  const { clock, begun, enter } = lanes();
  enter('a', 'first');
  enter('a', 'second');
  enter('a', 'third');
  await settle();
  clock.advance(99);
  await settle();
  expect(begun).toEqual(['first']);
  clock.advance(1);
  await settle();
  expect(begun).toEqual(['first', 'second']);
  clock.advance(100);
  await settle();
  expect(begun).toEqual(['first', 'second', 'third']);
});

test('who leaves before its turn is passed over, and nothing stays behind', async () => {
  const { clock, begun, enter } = lanes();
  const first = enter('a', 'first');
  enter('a', 'second').leave();
  const third = enter('a', 'third');
  first.leave();
  await settle();
  expect(begun).toEqual(['first', 'second', 'third']);
  third.leave();
  await settle();
  expect(clock.pending()).toBe(0);
});
