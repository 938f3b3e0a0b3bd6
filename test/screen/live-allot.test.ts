import fc from 'fast-check';
import { expect, test } from 'vitest';
import { allot, type Want } from '../../src/tui/live/frame.js';

const want = (rows: number, rank = 0, least = 2): Want => ({ rows, least, rank });
const anyWant = fc.record({
  rows: fc.integer({ min: 0, max: 50 }),
  least: fc.integer({ min: 1, max: 4 }),
  rank: fc.integer({ min: 0, max: 4 }),
});

test('where there is room for all, each gets what it wants', () => {
  expect(allot(20, [want(5), want(0), want(7)])).toEqual([5, 0, 7]);
});

test('a small block gets all; the others share the rest alike, a blank row between any two', () => {
  expect(allot(20, [want(3), want(50), want(50)])).toEqual([3, 8, 7]);
});

test('where not even the least fits, the highest rank goes first', () => {
  expect(allot(6, [want(9, 0), want(9, 2), want(9, 1)])).toEqual([3, 0, 2]);
  expect(allot(2, [want(9, 0), want(9, 2), want(9, 1)])).toEqual([2, 0, 0]);
  expect(allot(1, [want(9, 0)])).toEqual([0]);
});

test('no more than there is, no more than is wanted, and never less than says something', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 60 }), fc.array(anyWant, { maxLength: 6 }), (height, wants) => {
      const granted = allot(height, wants);
      const shown = granted.filter(rows => rows > 0);
      const used = shown.reduce((sum, rows) => sum + rows, Math.max(0, shown.length - 1));
      expect(used).toBeLessThanOrEqual(height);
      for (const [index, { rows, least }] of wants.entries()) {
        const got = granted[index] ?? 0;
        expect(got === 0 || (got <= rows && got >= Math.min(rows, least))).toBe(true);
      }
    }),
  );
});
