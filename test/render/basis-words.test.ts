import { expect, test } from 'vitest';
import { basisWords } from '../../src/render/given-up.js';

test.each([
  ['declared', 'declared'],
  ['convention', 'by convention'],
  ['later', 'later'],
])('an outcome that stands on %s is told as %s', (basis, words) => {
  expect(basisWords(basis)).toBe(words);
});
