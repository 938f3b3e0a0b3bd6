import { expect, test } from 'vitest';
import { throttled } from '../../src/tui/terminal.js';
import { fakeClock } from '../support/fake-clock.js';

test('any number of wishes are one, and never more than 20 a second', () => {
  const clock = fakeClock();
  let done = 0;
  const { ask } = throttled(clock, 50, () => done++);
  for (let ms = 0; ms < 999; ms++) {
    for (let wish = 0; wish < 10; wish++) ask();
    clock.advance(1);
  }
  expect(done).toBe(20);
});

test('the first is at once, but never within what asks for it; the last is never lost', () => {
  const clock = fakeClock();
  let done = 0;
  const { ask } = throttled(clock, 50, () => done++);
  ask();
  expect(done).toBe(0);
  clock.advance(0);
  expect(done).toBe(1);
  ask();
  clock.advance(49);
  expect(done).toBe(1);
  clock.advance(1);
  expect(done).toBe(2);
  expect(clock.pending()).toBe(0);
});

test('nothing is done once it was stopped', () => {
  const clock = fakeClock();
  let done = 0;
  const { ask, stop } = throttled(clock, 50, () => done++);
  ask();
  stop();
  clock.advance(100);
  expect(done).toBe(0);
});
