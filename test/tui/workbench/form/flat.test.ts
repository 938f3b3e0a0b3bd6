import { expect, test } from 'vitest';
import { drawn, formFor, press, pressAll, valueIn } from './support/pressing.js';

const EDIT = formFor(
  {
    path: { type: 'string', description: 'The file to edit, relative to the project' },
    mode: { enum: ['replace', 'append', 'create'] },
    line: { type: 'integer', minimum: 1 },
    ratio: { type: 'number' },
    dry_run: { type: 'boolean', default: true },
  },
  ['path', 'mode'],
);

test('each property has a row: name, whether it is required, value, type', () => {
  expect(drawn(EDIT)).toEqual([
    '❯ path*    [ ]                                                              string',
    '    The file to edit, relative to the project',
    '    required · Ctrl-D sends ""',
    '  mode*    ‹ – ›                                                            enum',
    '  line                                                                   integer',
    '  ratio                                                                   number',
    '  dry_run  ‹ true ›                                                      boolean',
    '',
    '  ▶ Run',
  ]);
});

test('typed and chosen values are the arguments; empty optional ones are left out', () => {
  const form = pressAll(EDIT, 'src/main.rs', '<down>', ' ', '<right>', '<tab>', '12', '<enter>', '-0.5');
  expect(valueIn(form)).toEqual({
    path: 'src/main.rs',
    mode: 'append',
    line: 12,
    ratio: -0.5,
    dry_run: true,
  });
});

test('empty required values and invalid numbers are reported at their fields, and the first one gets the focus', () => {
  const read = pressAll(EDIT, '<down>', 'c', '<down>', 'twelve', '<tab>', '1e999').arguments();
  if (read.ok) throw new Error('it has faults');
  expect(drawn(read.form).filter(row => /✗|❯|Run/.test(row))).toEqual([
    '❯ path*    [ ]                                                              string',
    '    ✗ is required',
    '    ✗ must be an integer, as 42',
    '    ✗ the number 1e999 is too large to hold',
    '  ▶ Run   3 faults',
  ]);
  expect(drawn(pressAll(read.form, 'x')).filter(row => row.includes('is required'))).toEqual([]);
});

test('errors of the schema are shown at their fields, others at the top', () => {
  const form = EDIT.withFaults([
    { path: '$', message: 'must have fewer properties' },
    { path: '$.line', message: 'must be >= 1 (minimum)' },
    { path: '$.nowhere', message: 'is not an allowed property' },
  ]);
  const rows = drawn(form);
  expect(rows.slice(0, 2)).toEqual([
    '  ✗ must have fewer properties',
    '  ✗ $.nowhere is not an allowed property',
  ]);
  expect(rows.find(row => row.startsWith('❯'))).toContain('line');
});

test('Enter on Run, and Ctrl-R anywhere, run the call', () => {
  expect(EDIT.wantsRun(press('<ctrl-r>'))).toBe(true);
  expect(EDIT.wantsRun(press('<enter>'))).toBe(false);
  const onRun = pressAll(EDIT, '<pageDown>');
  expect(onRun.wantsRun(press('<enter>'))).toBe(true);
  expect(drawn(onRun).at(-1)).toBe('❯ ▶ Run');
});

test('in a text: moving, erasing a character, a word, all before the cursor; pasting many lines', () => {
  const typed = (...names: readonly string[]) =>
    valueIn(pressAll(formFor({ text: { type: 'string' } }), ...names));
  expect(typed('abc', '<left>', '<backspace>', 'X')).toEqual({ text: 'aXc' });
  expect(typed('abc', '<home>', 'X', '<right>', 'Y', '<end>', 'Z')).toEqual({ text: 'XaYbcZ' });
  expect(typed('one two  ', '<ctrl-w>', '3')).toEqual({ text: 'one 3' });
  expect(typed('one two', '<left>', '<ctrl-u>')).toEqual({ text: 'o' });
  expect(typed('a', '\n', 'b', '<ctrl-j>')).toEqual({ text: 'a\nb\n' });
  expect(typed('fn main() {\r\n\tx();\r}\r')).toEqual({ text: 'fn main() {\n\tx();\n}\n' });
  expect(typed('e\u0301👩‍💻', '<backspace>', '<backspace>', 'x')).toEqual({ text: 'x' });
});

test('a pasted word that is the name of a key is text', () => {
  expect(valueIn(pressAll(formFor({ a: { type: 'string' } }), 'home', 'escape'))).toEqual({
    a: 'homeescape',
  });
});

test('an empty text is left out, or sent after Ctrl-D; a required one is never sent empty otherwise', () => {
  const form = formFor({ a: { type: 'string' }, b: { type: 'string' } }, ['b']);
  const filled = pressAll(form, '<down>', 'x', '<up>');
  expect(valueIn(pressAll(filled, 'y', '<backspace>'))).toEqual({ b: 'x' });
  expect(valueIn(pressAll(filled, '<ctrl-d>', '<down>', '<ctrl-d>', '<ctrl-d>'))).toEqual({ a: '', b: '' });
  expect(form.arguments().ok).toBe(false);
  expect(drawn(pressAll(form, '<ctrl-d>'))[1]).toBe('    sends "" · Ctrl-D does not');
});

test('a choice is cycled by keys or selected by its first letters; an optional one can be none', () => {
  const form = formFor(
    { dry: { type: 'boolean' }, mode: { enum: ['one', 'two', 3, null] }, is: { const: 'x' } },
    ['mode'],
  );
  expect(valueIn(pressAll(form, '<right>', '<down>', 't'))).toEqual({ dry: true, mode: 'two' });
  expect(valueIn(pressAll(form, ' ', ' ', '<tab>', '<end>'))).toEqual({ dry: false, mode: null });
  expect(valueIn(pressAll(form, ' ', ' ', ' ', '<tab>', '<left>', '<left>', '<tab>', ' '))).toEqual({
    mode: 3,
    is: 'x',
  });
  expect(valueIn(pressAll(form, ' ', '<ctrl-d>', '<tab>', '<home>', '<left>'))).toEqual({ mode: null });
});

test('a number is sent as typed, or not at all', () => {
  const typed = (text: string, type = 'number') => pressAll(formFor({ n: { type } }), text).arguments();
  expect(typed(' 1.50 ')).toMatchObject({ value: { n: 1.5 } });
  expect(typed('9007199254740992')).toMatchObject({ value: { n: 2 ** 53 } });
  expect(typed('1e3', 'integer')).toMatchObject({ value: { n: 1_000 } });
  for (const wrong of ['9007199254740993', '1e999', '1,5', '0x10', 'NaN', '01', '-'])
    expect(typed(wrong)).toMatchObject({ ok: false, form: { state: { faults: [{ path: '$.n' }] } } });
  expect(typed('1.5', 'integer')).toMatchObject({
    form: { state: { faults: [{ message: 'must be an integer' }] } },
  });
});

test('defaults are filled in; with given arguments, only missing required ones are', () => {
  const properties = {
    a: { type: 'integer', default: 7 },
    b: { type: 'string', default: 'x' },
    c: { default: [1] },
  };
  expect(valueIn(formFor(properties))).toEqual({ a: 7, b: 'x', c: [1] });
  expect(valueIn(formFor(properties, ['a'], { b: 'y' }))).toEqual({ a: 7, b: 'y' });
});
