import { expect, test } from 'vitest';
import { cut } from '../../src/util/text.js';

test.each([
  ['short', 'short'],
  ['12345678', '12345678'],
  ['123456789', '12345678…'],
  ['1234567😀', '1234567…'],
  ['\ud83d234567890', '\ufffd2345678…'],
])('%j', (text, expected) => {
  expect(cut(text, 8)).toBe(expected);
});
