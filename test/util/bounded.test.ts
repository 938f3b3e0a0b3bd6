import { expect, test } from 'vitest';
import { bounded, OutOfTime } from '../../src/util/time-limit.js';

test('gives back what the work gave', () => {
  expect(bounded(() => 42)).toBe(42);
  expect(bounded(() => undefined)).toBeUndefined();
});

test('an error of the work stays what it is', () => {
  const error = new TypeError('mine');
  expect(() =>
    bounded(() => {
      throw error;
    }),
  ).toThrow(error);
});

test('row 22: work without an end ends, and the next work is done', () => {
  expect(() =>
    bounded(() => {
      for (;;);
    }),
  ).toThrow(OutOfTime);
  expect(bounded(() => 'next')).toBe('next');
});
