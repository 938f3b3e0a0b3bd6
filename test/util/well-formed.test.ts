import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toWellFormed } from '../../src/util/values.js';
import { anyCodePoint } from '../support/characters.js';

test.each([
  ['a\ud83db', 'a\ufffdb', true],
  ['\ude00\ud83d', '\ufffd\ufffd', true],
  ['😀', '😀', false],
  ['\ufffd', '\ufffd', false],
  ['', '', false],
])('row 20: %j becomes %j', (text, formed, replaced) => {
  expect(toWellFormed(text)).toEqual({ text: formed, replaced });
});

test('what comes out survives UTF-8, and what was well formed is not touched', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCodePoint }), text => {
      const { text: formed, replaced } = toWellFormed(text);
      expect(Buffer.from(formed).toString()).toBe(formed);
      expect(replaced).toBe(!text.isWellFormed());
    }),
  );
});
