import { expect, test } from 'vitest';
import { widthOf } from '../../../src/render/terminal/theme.js';
import { promptLine, TextInput } from '../../../src/tui/text-input.js';
import { words } from '../../support/words.js';

const LABEL = 'Open: ';
const lineOf = (text: string, cursor = text.length) => promptLine(LABEL, new TextInput(text, cursor), 40);

test.each([
  ['wide characters', '漢'.repeat(60)],
  ['characters of two units', '🙂'.repeat(60)],
  ['clusters', '👩‍💻'.repeat(60)],
  ['what is made visible', '\u202e'.repeat(60)],
])('of %s, no more than there is room for, with the cursor and what stands before it', (_, text) => {
  const line = lineOf(`${text}END`);
  expect(widthOf(line)).toBeLessThanOrEqual(40);
  expect(line.filter(({ tone }) => tone === 'cursor')).toEqual([{ text: ' ', tone: 'cursor' }]);
  expect(words(line)).toMatch(/^Open: ….*END $/);
});

test('no character is cut in two', () => {
  for (let cursor = 0; cursor <= 60; cursor++)
    expect(words(lineOf('🙂'.repeat(60), cursor * 2))).not.toMatch(/\p{Cs}|\ufffd|\\u/u);
});

test('the cursor is on the whole of what a person sees as one', () => {
  const under = lineOf('a👩‍💻b', 1).filter(({ tone }) => tone === 'cursor');
  expect(words(under)).toMatch(/^👩.*💻$/);
});
