import { expect, test } from 'vitest';
import { formatDuration } from '../../src/util/text.js';

test.each([
  [0, '0ms'],
  [3, '3ms'],
  [0.26, '0.3ms'],
  [9.96, '10ms'],
  [412.7, '413ms'],
  [999.6, '1s'],
  [1_000, '1s'],
  [1_234, '1.2s'],
  [60_000, '1m'],
  [303_000, '5m 3s'],
])('%d ms are reported as %s', (milliseconds, text) => {
  expect(formatDuration(milliseconds)).toBe(text);
});
