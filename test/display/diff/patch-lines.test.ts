import fc from 'fast-check';
import { expect, test } from 'vitest';
import { PatchLines } from '../../../src/display/diff.js';

const text = fc.string({ unit: fc.constantFrom('a', '\\', '\n', '\r', '日') });

test('lines are those of the text, and none beyond', () => {
  fc.assert(
    fc.property(text, given => {
      const lines = new PatchLines(given);
      const expected = given.split('\n');
      const indexes = Array.from({ length: lines.count }, (_, index) => index);
      expect(indexes.map(index => lines.at(index))).toEqual(expected);
      expect(indexes.map(index => lines.signAt(index))).toEqual(expected.map(line => line.charAt(0)));
      expect(lines.at(lines.count)).toBeUndefined();
      expect(lines.signAt(lines.count)).toBeUndefined();
    }),
  );
});

test('no more are looked for than told, and one', () => {
  expect(new PatchLines('\n'.repeat(1_000_000), 10).count).toBe(11);
});
