import { expect, test } from 'vitest';
import { widthOf } from '../../src/render/terminal/fit.js';
import { TextInput } from '../../src/tui/text-input.js';
import { words } from '../support/words.js';
import { press } from './workbench/form/support/pressing.js';

const at = (marked: string) => new TextInput(marked.replace('|', ''), marked.indexOf('|'));
const marked = ({ text, cursor }: TextInput) => `${text.slice(0, cursor)}|${text.slice(cursor)}`;

test.each([
  ['a|b', press('xyz'), 'axyz|b'],
  ['|b', press('<backspace>'), '|b'],
  ['a👩‍💻|', press('<backspace>'), 'a|'],
  ['a😀|', press('<left>'), 'a|😀'],
  ['a|😀', press('<right>'), 'a😀|'],
  ['a|b', press('<ctrl-a>'), '|ab'],
  ['a|b', press('<ctrl-e>'), 'ab|'],
  ['a b|c', press('<ctrl-u>'), '|c'],
  ['one two |x', press('<ctrl-w>'), 'one |x'],
  ['a|', press('<ctrl-x>'), 'a|'],
  ['a|', press('two\nlines\u001b'), 'atwolines|'],
])('%s after a key', (before, key, after) => {
  expect(marked(at(before).press(key))).toBe(after);
});

test.each([
  ['a|', ['abc'], 'abc|'],
  ['a|', ['abc', 'abd'], 'ab|'],
  ['a|', ['a', 'ab'], 'a|'],
  ['a|x', ['ab/'], 'ab/|x'],
  ['|', ['😀', '😁'], '|'],
  ['a|', [], 'a|'],
])('%s with %j is %s', (before, candidates, after) => {
  expect(marked(at(before).completed(candidates))).toBe(after);
});

test.each([
  ['wide characters', '漢'],
  ['characters of two units', '🙂'],
  ['clusters', '👩‍💻'],
  ['what is made visible', '\u202e'],
])('draws of %s only what fits, with the cursor', (_, character) => {
  const text = `${character.repeat(60)}END`;
  const line = new TextInput(text).line(40);
  expect(widthOf(line)).toBeLessThanOrEqual(40);
  expect(line.filter(({ tone }) => tone === 'cursor')).toEqual([{ text: ' ', tone: 'cursor' }]);
  expect(words(line)).toMatch(/^….*END $/);
  for (let cursor = 0; cursor <= text.length; cursor++)
    expect(words(new TextInput(text, cursor).line(40))).not.toMatch(/\ufffd|\\u/u);
});
