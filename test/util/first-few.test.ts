import { expect, test } from 'vitest';
import { firstFew } from '../../src/util/text.js';

test.each([
  [[], ''],
  [['a'], 'a'],
  [['a', 'b', 'c'], 'a, b, c'],
  [['a', 'b', 'c', 'd', 'e'], 'a, b, c and 2 more'],
])('of %j three at most', (names, told) => {
  expect(firstFew(names, 3)).toBe(told);
});
