import { expect, test } from 'vitest';
import { LineGatherer } from '../../../src/runtime/mcp/lines.js';

function gathering(maxBytes: number) {
  const lines: string[] = [];
  const gatherer = new LineGatherer(maxBytes, line => lines.push(Buffer.from(line).toString('utf8')));
  return { lines, add: (text: string) => gatherer.add(Buffer.from(text)) };
}

test('lines come whole, however their bytes come', () => {
  const { lines, add } = gathering(10);
  for (const piece of ['a', 'b\nc', '\n\nrest']) expect(add(piece)).toBe(true);
  expect(lines).toEqual(['ab', 'c', '']);
  add('\n');
  expect(lines.at(-1)).toBe('rest');
});

test('a line that is too long is told, with and without its end', () => {
  expect(gathering(3).add('abc\nabc')).toBe(true);
  expect(gathering(3).add('abcd')).toBe(false);
  const { lines, add } = gathering(3);
  expect([add('ab'), add('cd\n')]).toEqual([true, false]);
  expect(lines).toEqual([]);
});
