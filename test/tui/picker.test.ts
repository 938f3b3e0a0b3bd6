import { expect, test } from 'vitest';
import { type PickerState, pickerLines, pickerOf, pressPicker } from '../../src/tui/picker.js';
import { question } from '../screen/support/scenes.js';
import { words } from '../support/words.js';

const LABELS = Array.from({ length: 15 }, (_, index) => `choice ${index}`);
const after = (choices: readonly string[], preset: number, ...keys: readonly string[]) =>
  keys.reduce(pressPicker, pickerOf(question('Which?', choices, preset))).selected;

test('the default is selected first', () => {
  expect(after(LABELS, 7)).toBe(7);
});

test.each([
  [['up'], 3],
  [['down'], 5],
  [['home'], 0],
  [['home', 'up'], 0],
  [['end'], 14],
  [['end', 'down'], 14],
  [['enter'], 4],
  [['escape'], 4],
] as const)('%j moves the selection from 4 to %i', (commands, selected) => {
  expect(after(LABELS, 4, ...commands)).toBe(selected);
});

test.each([
  [['2'], 2],
  [['1', '2'], 12],
  [['1', '9'], 9], // there is no 19
  [['1', '2', '3'], 3],
  [['1', 'down', '2'], 2],
  [['0', '7'], 7],
] as const)('the digits %j select %i', (commands, selected) => {
  expect(after(LABELS, 4, ...commands)).toBe(selected);
});

const rowsOf = (picker: PickerState, columns = 60, rows = 20) => {
  const { lines, keys } = pickerLines(picker, { columns, rows });
  return [...lines, keys].map(words);
};

test('RT-CHOICE: with one row for the prompt, the prompt is cut', () => {
  const picker = pickerOf(question('May this file be written here?', ['a', 'b']));
  expect(rowsOf(picker, 20, 4)).toEqual([
    'May this file be wr…',
    '❯ 0 a (default)',
    '  1 b',
    expect.anything(),
  ]);
  const lines = pickerOf(question('May it?\nReally?', ['a', 'b']));
  expect(rowsOf(lines, 20, 4)[0]).toBe('May it? …');
});

test('threats, row 24: control characters in prompt and labels are made visible', () => {
  const hostile = '\u001b[2J\u001b]0;owned\u0007\r\u202e';
  const rows = rowsOf(pickerOf(question(hostile, [`${hostile}\nsecond row`])));
  expect(rows[0]).toBe('␛[2J␛]0;owned␇␍<U+202E>');
  expect(rows[1]).toBe('❯ 0 ␛[2J␛]0;owned␇␍<U+202E>␊second row (default)');
});

test('a hundred thousand choices of a megabyte each cost no more than the visible ones', () => {
  const label = 'x'.repeat(1_000_000);
  const picker = pickerOf(
    question(
      'Which?',
      Array.from({ length: 100_000 }, () => label),
    ),
  );
  expect(rowsOf(picker)).toHaveLength(20);
});
