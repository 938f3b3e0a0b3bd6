import { expect, test } from 'vitest';
import { elapsed } from '../../../src/render/line.js';

test.each([
  [0, '0:00.0'],
  [99.9, '0:00.0'],
  [1_250, '0:01.2'],
  [59_999, '0:59.9'],
  [60_000, '1:00.0'],
  [723_400, '12:03.4'],
  [3_600_000, '1:00:00.0'],
  [90_061_500, '25:01:01.5'],
])('%d ms is %s', (milliseconds, text) => {
  expect(elapsed(milliseconds)).toBe(text);
});
