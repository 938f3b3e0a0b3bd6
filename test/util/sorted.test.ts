import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lastUpTo } from '../../src/util/collections.js';

test('is the last that is not above', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 20 })),
      fc.integer({ min: -1, max: 21 }),
      (numbers, value) => {
        const ascending = numbers.toSorted((a, b) => a - b);
        expect(lastUpTo(ascending, value)).toBe(ascending.findLastIndex(number => number <= value));
      },
    ),
  );
});
