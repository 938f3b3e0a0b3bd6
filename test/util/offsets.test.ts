import { expect, test } from 'vitest';
import { offsetsOf } from '../../src/util/collections.js';

test('places are in the thing that holds them; an empty one holds none', () => {
  const { total, starts, lengthOf, locate } = offsetsOf([0, 2, 0, 1, 0]);
  expect(total).toBe(3);
  expect([...starts]).toEqual([0, 0, 2, 2, 3]);
  expect(lengthOf(1)).toBe(2);
  expect([0, 1, 2].map(locate)).toEqual([
    { which: 1, at: 0 },
    { which: 1, at: 1 },
    { which: 3, at: 0 },
  ]);
});

test.each([-1, 3, 99])('none holds %d', place => {
  expect(offsetsOf([0, 2, 0, 1, 0]).locate(place).which).toBe(-1);
});
