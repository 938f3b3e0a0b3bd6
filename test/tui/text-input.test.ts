import { describe, expect, test } from 'vitest';
import { lineText } from '../../src/render/line.js';
import { widthOf } from '../../src/render/terminal/fit.js';
import {
  completed,
  EDITING_KEYS,
  inputLine,
  moveLines,
  pressText,
  type TextInput,
  textInput,
} from '../../src/tui/text-input.js';
import { pressForm } from '../../src/tui/workbench/form/press.js';
import { words } from '../support/words.js';
import { formFor, press } from './workbench/form/support/pressing.js';

const at = (marked: string) => textInput(marked.replace('|', ''), marked.indexOf('|'));
const marked = ({ text, cursor }: TextInput) => `${text.slice(0, cursor)}|${text.slice(cursor)}`;

/** How a key changes each kind of text. */
const TEXTS: Readonly<Record<string, (input: TextInput, key: string) => TextInput>> = {
  'a prompt': (input, name) => pressText(input, { name, text: '' }),
  'a text field of a form'({ text, cursor }, name) {
    const form = formFor({ text: { type: 'string' } }, [], { text });
    const after = pressForm({ ...form, cursor }, { name, text: '' });
    return { text: after.root.children[0]?.text ?? '', cursor: after.cursor };
  },
  'the JSON of a form'(raw, name) {
    return pressForm({ ...formFor({}), mode: 'raw', raw }, { name, text: '' }).raw;
  },
};

/** Every editing key in a line. */
const IN_A_LINE: readonly (readonly [keys: string, before: string, after: string])[] = [
  ['left', 'a👩‍💻|b', 'a|👩‍💻b'],
  ['right', 'a|👩‍💻b', 'a👩‍💻|b'],
  ['ctrl+left meta+left meta+b', 'src/main.rs  |', 'src/main.|rs  '],
  ['ctrl+right meta+right meta+f', 'src|/main.rs', 'src/main|.rs'],
  ['home ctrl+a', 'a b|c', '|a bc'],
  ['end ctrl+e', 'a b|c', 'a bc|'],
  ['erase', 'xe\u0301|b', 'x|b'],
  ['delete', 'x|e\u0301b', 'x|b'],
  ['ctrl+w', 'cat src/main.rs |x', 'cat |x'],
  ['meta+erase', 'cat src/main.rs |x', 'cat src/main.|x'],
  ['meta+d', 'src|/main.rs', 'src|.rs'],
  ['ctrl+u', 'a b|c', '|c'],
  ['ctrl+k', 'a| bc', 'a|'],
];

/** At the ends of a line. */
const BETWEEN_LINES: readonly (readonly [keys: string, before: string, after: string])[] = [
  ['home ctrl+a', 'a\nbc|\nd', 'a\n|bc\nd'],
  ['end ctrl+e', 'a\n|bc\nd', 'a\nbc|\nd'],
  ['ctrl+w ctrl+u erase', 'a\n|b', 'a|b'],
  ['ctrl+k delete', 'a|\nb', 'a|b'],
  ['meta+b', 'one\n|two', '|one\ntwo'],
  ['meta+f', 'one|\ntwo', 'one\ntwo|'],
];

/** At the ends of the text no key does anything. */
const AT_THE_ENDS: readonly (readonly [keys: string, before: string, after: string])[] = [
  ['left ctrl+left home erase ctrl+w meta+erase ctrl+u', '|a', '|a'],
  ['right ctrl+right end delete meta+d ctrl+k', 'a|', 'a|'],
];

test('every editing key is tested', () => {
  expect(IN_A_LINE.map(([keys]) => keys)).toEqual(EDITING_KEYS.map(({ keys }) => keys));
});

describe.each(Object.entries(TEXTS))('in %s', (kind, pressed) => {
  const cases = [...IN_A_LINE, ...AT_THE_ENDS, ...(kind === 'a prompt' ? [] : BETWEEN_LINES)];

  test.each(cases)('%s of %j gives %j', (keys, before, after) => {
    for (const key of keys.split(' ')) expect([key, marked(pressed(at(before), key))]).toEqual([key, after]);
  });
});

test.each([
  ['a|b', press('xyz'), 'axyz|b'],
  ['a|', press('<ctrl-x>'), 'a|'],
  ['a|', press('two\nlines\u001b'), 'atwolines|'],
])('in a prompt %s becomes, after a key, a line without control characters', (before, key, after) => {
  expect(marked(pressText(at(before), key))).toBe(after);
});

test.each([
  [1, 'a|b\ncde', 'ab\nc|de'],
  [1, 'abc|\nd\nefg', 'abc\nd|\nefg'],
  [9, 'ab|\nc', 'ab\nc|'],
  [-1, 'abc\nd|', 'a|bc\nd'],
  [-9, 'a\nb\nc|', 'a|\nb\nc'],
])('%s lines down from %j is %j', (count, before, after) => {
  expect(marked(moveLines(at(before), count))).toBe(after);
});

test.each([
  ['a|', ['abc'], 'abc|'],
  ['a|', ['abc', 'abd'], 'ab|'],
  ['a|', ['a', 'ab'], 'a|'],
  ['a|x', ['ab/'], 'ab/|x'],
  ['|', ['😀', '😁'], '|'],
  ['a|', [], 'a|'],
])('%s with %j is %s', (before, candidates, after) => {
  expect(marked(completed(at(before), candidates))).toBe(after);
});

test.each([
  ['wide characters', '漢'],
  ['characters of two units', '🙂'],
  ['clusters', '👩‍💻'],
  ['what is made visible', '\u202e'],
])('draws of %s only what fits, with the cursor', (_, character) => {
  const text = `${character.repeat(60)}END`;
  const line = inputLine(textInput(text), 40);
  expect(widthOf(line)).toBeLessThanOrEqual(40);
  expect(line.filter(({ tone }) => tone === 'cursor')).toEqual([{ text: ' ', tone: 'cursor' }]);
  expect(words(line)).toMatch(/^….*END $/);
  for (let cursor = 0; cursor <= text.length; cursor++)
    expect(words(inputLine(textInput(text, cursor), 40))).not.toMatch(/\ufffd|\\u/u);
});

const MIXED = '日本語テキスト🙂🙂👩‍👩‍👧';

test.each([
  ['a'.repeat(23), 24, `${'a'.repeat(23)} `],
  ['a'.repeat(24), 24, `…${'a'.repeat(22)} `],
  [MIXED, 41, '日本語テキスト🙂🙂👩<U+200D>👩<U+200D>👧 '],
  [MIXED, 24, '…👩<U+200D>👩<U+200D>👧 '],
  [MIXED, 15, '…👩<U+200D>👧 '],
  ['e\u0323\u0302'.repeat(9), 10, `${'e\u0323\u0302'.repeat(9)} `],
])('shows all of %j in %i cells if it fits, else its end', (text, width, shown) => {
  expect(lineText(inputLine(textInput(text), width))).toBe(shown);
});

test.each([
  '|abcdefghijklmnopqrst',
  'abcdefghij|klmnopqrst',
  'abcdefghijklmnopqrs|t',
  'abcdefghijklmnopqrst|',
])('a text that does not fit fills the width, wherever the cursor is: %s', text => {
  for (const width of [6, 10, 15, 19]) expect(widthOf(inputLine(at(text), width))).toBe(width);
});

test('a text that fits without the cell after its end is whole, with the cursor in it', () => {
  expect(lineText(inputLine(at('abc|def'), 6))).toBe('abcdef');
  expect(lineText(inputLine(at('ab|👩‍👩‍👧'), 24))).toBe('ab👩<U+200D>👩<U+200D>👧');
});
