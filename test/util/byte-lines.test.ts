import { expect, test } from 'vitest';
import { byteLines } from '../../src/util/text.js';

const linesOf = (text: string | Uint8Array) => [...byteLines(Buffer.from(text))];

test.each([
  ['', []],
  ['a', ['a']],
  ['a\n', ['a']],
  ['a\n\nb', ['a', '', 'b']],
  ['é\r\n漢', ['é\r', '漢']],
])('%j', (text, lines) => {
  expect(linesOf(text)).toEqual(lines);
});

test('a line that is not UTF-8 spoils no other', () => {
  const bytes = Buffer.concat([Buffer.from('a\n'), Buffer.from([0xff, 0x0a]), Buffer.from('b')]);
  expect(linesOf(bytes)).toEqual(['a', '(not UTF-8)', 'b']);
});
