import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { createTheme } from '../../src/render/terminal/theme.js';
import { openPicker, type Picker, pickerRows, stepPicker } from '../../src/tui/live/frame.js';
import { question } from './support/scenes.js';

const THEME = createTheme(0);
const rowsOf = (picker: Picker, columns = 60, rows = 20) => pickerRows(picker, { columns, rows }, THEME);
const many = openPicker(
  question(
    'Which?',
    Array.from({ length: 40 }, (_, index) => `choice ${index}`),
    20,
  ),
);

test('the prompt, each choice with its index, the default, the cursor, and the keys', () => {
  const picker = openPicker(question('Which environment?', ['staging', 'production', 'neither'], 1));
  expect(rowsOf(picker)).toEqual([
    'Which environment?',
    '  0 staging',
    '❯ 1 production (default)',
    '  2 neither',
    '↑↓ select   Ctrl-C cancel   ⏎ choose   Esc default',
  ]);
});

test('a prompt of several lines keeps them, and leaves room for the choices', () => {
  const picker = openPicker(question('one\ntwo', ['a', 'b']));
  expect(rowsOf(picker).slice(0, 3)).toEqual(['one', 'two', '❯ 0 a (default)']);
  const endless = openPicker(question('word '.repeat(2_000), ['a', 'b', 'c', 'd', 'e']));
  const rows = rowsOf(endless, 60, 8);
  expect(rows).toHaveLength(8);
  expect(rows.filter(row => /^[❯ ] \d /.test(row))).toHaveLength(4);
  expect(rows[2]).toMatch(/^… \d+ more rows$/);
});

test('RT-CHOICE: where there is one row for the prompt, it is the prompt, cut', () => {
  const picker = openPicker(question('May this file be written here?', ['a', 'b']));
  expect(rowsOf(picker, 20, 4)).toEqual([
    'May this file be wr…',
    '❯ 0 a (default)',
    '  1 b',
    expect.anything(),
  ]);
  const lines = openPicker(question('May it?\nReally?', ['a', 'b']));
  expect(rowsOf(lines, 20, 4)[0]).toBe('May it? …');
});

test('of more choices than there is room for, those around the cursor are seen, and where that stands', () => {
  expect(rowsOf(many, 60, 7)).toEqual([
    'Which?',
    '  18 choice 18',
    '  19 choice 19',
    '❯ 20 choice 20 (default)',
    '  21 choice 21',
    '  22 choice 22',
    '↑↓ 21 of 40   Ctrl-C cancel   ⏎ choose   Esc default',
  ]);
  expect(rowsOf(stepPicker(many, 'first'), 60, 7)[1]).toBe('❯  0 choice 0');
  expect(rowsOf(stepPicker(many, 'last'), 60, 7).at(-2)).toBe('❯ 39 choice 39');
});

test('a label is cut to the width; its index and that it is the default are not', () => {
  const [, wide, plain] = rowsOf(openPicker(question('Which?', ['漢'.repeat(1_000), 'x'.repeat(1_000)])), 40);
  expect(wide).toMatch(/^❯ 0 漢+… \(default\)$/);
  expect(stringWidth(wide ?? '')).toBeLessThanOrEqual(40);
  expect(plain).toBe(`  1 ${'x'.repeat(35)}…`);
});

test('threats, row 24: what would act on a terminal is shown, in the prompt and in labels', () => {
  const hostile = '\u001b[2J\u001b]0;owned\u0007\r\u202e';
  const rows = rowsOf(openPicker(question(hostile, [`${hostile}\nsecond row`])));
  expect(rows[0]).toBe('␛[2J␛]0;owned␇␍<U+202E>');
  expect(rows[1]).toBe('❯ 0 ␛[2J␛]0;owned␇␍<U+202E>␊second row (default)');
});

test('a hundred thousand choices, each a megabyte long, cost no more than those that are seen', () => {
  const label = 'x'.repeat(1_000_000);
  const picker = openPicker(
    question(
      'Which?',
      Array.from({ length: 100_000 }, () => label),
    ),
  );
  expect(rowsOf(picker)).toHaveLength(20);
});
