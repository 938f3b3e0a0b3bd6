import fc from 'fast-check';
import { expect, test } from 'vitest';
import { WaitingLine } from '../../src/util/waiting-line.js';

test('is first in, first out, whatever comes and goes', () => {
  const turns = fc.array(fc.record({ comes: fc.nat(2_000), goes: fc.nat(2_000) }), { maxLength: 8 });
  fc.assert(
    fc.property(turns, all => {
      const line = new WaitingLine<number>();
      const gone: unknown[] = [];
      let came = 0;
      for (const { comes, goes } of all) {
        for (let each = 0; each < comes; each++) line.push(came++);
        for (let left = Math.min(goes, came - gone.length); left > 0; left--) gone.push(line.shift());
      }
      expect(gone).toEqual(Array.from(gone, (_, place) => place));
    }),
    { numRuns: 20 },
  );
});

test('has nothing where nothing came', () => {
  expect(new WaitingLine().shift()).toBeUndefined();
});
