import { expect, test } from 'vitest';
import { widthOf } from '../../src/render/terminal/theme.js';
import { TextInput } from '../../src/tui/text-input.js';
import { words } from '../support/words.js';
import { pressed } from './pressed.js';

const at = (marked: string) => new TextInput(marked.replace('|', ''), marked.indexOf('|'));
const marked = ({ text, cursor }: TextInput) => `${text.slice(0, cursor)}|${text.slice(cursor)}`;

test.each([
  ['ab|', pressed('c'), 'abc|'],
  ['a|b', pressed('xyz'), 'axyz|b'],
  ['a|b', pressed('', { delete: true }), '|b'],
  ['|b', pressed('', { delete: true }), '|b'],
  ['a👩‍💻|', pressed('', { backspace: true }), 'a|'],
  ['a😀|', pressed('', { leftArrow: true }), 'a|😀'],
  ['a|😀', pressed('', { rightArrow: true }), 'a😀|'],
  ['a|b', pressed('', { home: true }), '|ab'],
  ['a|b', pressed('', { end: true }), 'ab|'],
  ['a b|c', pressed('u', { ctrl: true }), '|c'],
  ['one two |x', pressed('w', { ctrl: true }), 'one |x'],
  ['a|', pressed('x', { ctrl: true }), 'a|'],
  ['a|', pressed('two\nlines\u001b'), 'atwolines|'],
])('%s after a key', (before, press, after) => {
  expect(marked(at(before).press(press))).toBe(after);
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
