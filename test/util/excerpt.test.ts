import { expect, test } from 'vitest';
import { excerpt } from '../../src/util/text.js';

test.each([
  ['short', '"short"'],
  ['two\nlines', '"two␊lines"'],
  ['x'.repeat(60), `"${'x'.repeat(60)}"`],
  [`see ${'x'.repeat(40)} s3cret-s3cret-s3cret`, `"see ${'x'.repeat(40)} …"`],
  ['x'.repeat(61), `"${'x'.repeat(60)}…"`],
  ['😀'.repeat(5_000_000), `"${'😀'.repeat(60)}…"`],
])('a text is quoted on one line, never a long one', (text, expected) => {
  expect(excerpt(text)).toBe(expected);
});
