import { describe, expect, test } from 'vitest';
import { startDeadline } from '../../src/runtime/notices.js';
import { fakeClock } from '../support/fake-clock.js';

function started(afterMs: number) {
  const clock = fakeClock();
  const calls: number[] = [];
  const start = clock.now();
  const deadline = startDeadline(clock, afterMs, () => calls.push(clock.now() - start));
  return { clock, calls, deadline };
}

test('calls back once, when the time is over', () => {
  const { clock, calls } = started(100);
  clock.advance(99);
  expect(calls).toEqual([]);
  clock.advance(1_000);
  expect(calls).toEqual([100]);
});

test('0 waits for ever', () => {
  const { clock, calls, deadline } = started(0);
  deadline.pause();
  deadline.resume();
  clock.advance(1e9);
  expect([calls, clock.pending()]).toEqual([[], 0]);
});

describe('a pause', () => {
  test('does not count', () => {
    const { clock, calls, deadline } = started(100);
    clock.advance(60);
    deadline.pause();
    clock.advance(10_000);
    deadline.resume();
    clock.advance(39);
    expect(calls).toEqual([]);
    clock.advance(1);
    expect(calls).toEqual([10_100]);
  });

  test('pauses add up; one within another is one', () => {
    const { clock, calls, deadline } = started(100);
    for (let round = 0; round < 3; round++) {
      clock.advance(30);
      deadline.pause();
      deadline.pause();
      clock.advance(500);
      deadline.resume();
      deadline.resume();
    }
    clock.advance(9);
    expect(calls).toEqual([]);
    clock.advance(1);
    expect(calls).toEqual([1_600]);
  });
});

test('cancelled, or over, it is over', () => {
  const { clock, calls, deadline } = started(100);
  deadline.cancel();
  clock.advance(200);
  expect([calls, clock.pending()]).toEqual([[], 0]);
  const other = started(100);
  other.clock.advance(100);
  other.deadline.resume();
  other.clock.advance(500);
  expect(other.calls).toEqual([100]);
});
