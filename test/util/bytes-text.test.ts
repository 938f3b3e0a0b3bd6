import { expect, test } from 'vitest';
import { bytesText } from '../../src/util/text.js';

test.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [312, '312 bytes'],
])('%i: %s', (count, text) => {
  expect(bytesText(count)).toBe(text);
});
