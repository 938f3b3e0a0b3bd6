import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseDuration } from '../../src/util/text.js';

test.each([
  ['500ms', 500],
  ['2s', 2_000],
  ['1.5s', 1_500],
  ['5m', 300_000],
  ['1h', 3_600_000],
  ['250', 250],
  ['0', 0],
  [' 2 s ', 2_000],
])('%j is %i ms', (text, milliseconds) => {
  expect(parseDuration(text)).toBe(milliseconds);
});

test.each(['', 's', '-1', '1d', '2 seconds', '1e3', '.5s', '1,5s', '2s3', 'Infinity', 'NaN', '0x10', '٣s'])(
  '%j is not a duration',
  text => {
    expect(parseDuration(text)).toBeNull();
  },
);

test('whatever is written, it is a number of milliseconds or null', () => {
  expect(parseDuration('1'.repeat(101))).toBeNull();
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'0123456789.msh ') }), text => {
      const duration = parseDuration(text);
      expect(duration === null || duration >= 0).toBe(true);
    }),
  );
});
