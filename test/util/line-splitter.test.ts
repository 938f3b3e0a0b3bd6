import { expect, test } from 'vitest';
import { LineSplitter } from '../../src/util/text.js';

function gathering(maxBytes: number) {
  const lines: string[] = [];
  const splitter = new LineSplitter(maxBytes, line => lines.push(Buffer.from(line).toString('utf8')));
  return { lines, add: (text: string) => splitter.add(Buffer.from(text)) };
}

test('lines come whole, however their bytes come', () => {
  const { lines, add } = gathering(10);
  for (const piece of ['a', 'b\nc', '\n\nrest']) expect(add(piece)).toBe(true);
  expect(lines).toEqual(['ab', 'c', '']);
  add('\n');
  expect(lines.at(-1)).toBe('rest');
});

test('a line that is too long is reported, with and without its end', () => {
  expect(gathering(3).add('abc\nabc')).toBe(true);
  expect(gathering(3).add('abcd')).toBe(false);
  const { lines, add } = gathering(3);
  expect([add('ab'), add('cd\n')]).toEqual([true, false]);
  expect(lines).toEqual([]);
});

test('what has no end yet is counted', () => {
  const lines: Uint8Array[] = [];
  const splitter = new LineSplitter(10, line => lines.push(line));
  splitter.add(Buffer.from('abc\nde'));
  expect([lines.length, splitter.rest]).toEqual([1, 2]);
});
