import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Row, RowKind } from '../../../src/display/diff/model.js';
import { pairsWithin } from '../../../src/display/diff/pairs.js';

const KINDS: Record<string, RowKind> = { '-': 'removed', '+': 'added', ' ': 'context' };
const rowsOf = (signs: string): Row[] =>
  Array.from(signs, sign => ({ kind: KINDS[sign] ?? 'context', text: '' }));

test.each([
  [
    '-+',
    [
      [0, 1],
      [1, 0],
    ],
  ],
  [
    '--+',
    [
      [0, 2],
      [2, 0],
    ],
  ],
  [
    '-++',
    [
      [0, 1],
      [1, 0],
    ],
  ],
  [
    '--++',
    [
      [0, 2],
      [1, 3],
      [2, 0],
      [3, 1],
    ],
  ],
  ['- +', []],
  ['+-', []],
  [
    '-+-+',
    [
      [0, 1],
      [1, 0],
      [2, 3],
      [3, 2],
    ],
  ],
])('%j', (signs, pairs) => {
  expect([...pairsWithin(rowsOf(signs), 0, signs.length)]).toEqual(pairs);
});

test('a window has the same pairs as the whole', () => {
  const signs = fc.string({ unit: fc.constantFrom('-', '+', ' '), maxLength: 40 });
  fc.assert(
    fc.property(signs, fc.nat(45), fc.nat(45), (text, from, count) => {
      const rows = rowsOf(text);
      const whole = [...pairsWithin(rows, 0, rows.length)];
      expect([...pairsWithin(rows, from, from + count)]).toEqual(
        whole.filter(([row]) => row >= from && row < from + count),
      );
    }),
  );
});
