import { expect, test } from 'vitest';
import { Form } from '../../../../src/tui/workbench/form/form.js';
import { drawn, formFor, press, pressAll, valueIn } from './support/pressing.js';

const FORM = formFor({ path: { type: 'string' }, line: { type: 'integer' } }, ['path'], { path: 'a.txt' });
const ALL_ERASED = Array.from({ length: 30 }, () => '<ctrl-u>');
const emptied = pressAll(FORM, '<ctrl-e>', '<pageDown>', '<end>', ...ALL_ERASED);

test('Ctrl-E shows the arguments as JSON and goes back', () => {
  const raw = pressAll(FORM, '<ctrl-e>');
  expect(drawn(raw)).toEqual([
    'As JSON: Ctrl-E goes back to the fields.',
    '[{]',
    '  "path": "a.txt"',
    '}',
    '',
    '  ▶ Run',
  ]);
  expect(drawn(pressAll(raw, '<ctrl-e>'))).toEqual(drawn(FORM));
});

test('edited JSON becomes the arguments and the fields', () => {
  const typed = pressAll(emptied, '{"path": "b.txt",\r "line": 3}');
  expect(valueIn(typed)).toEqual({ path: 'b.txt', line: 3 });
  expect(drawn(pressAll(typed, '<ctrl-e>')).slice(0, 3).join('\n')).toMatch(/path.*b\.txt.*line.* 3 /s);
});

test('invalid JSON stays as typed, with its error at the top and the cursor in place', () => {
  const back = pressAll(emptied, '{"path": "b.txt",', '<enter>', '  "line": }', '<ctrl-e>');
  expect(drawn(back)).toEqual([
    '  ✗ line 2, column 11: found "}" where a value is expected',
    'As JSON: Ctrl-E goes back to the fields.',
    '{"path": "b.txt",',
    '  "line": [}]',
    '',
    '  ▶ Run   1 fault',
  ]);
  expect(back.arguments()).toMatchObject({ ok: false });
  expect(valueIn(pressAll(back, '7'))).toEqual({ path: 'b.txt', line: 7 });
});

test.each([
  ['[1]', 'must be an object'],
  ['{"a": 12345678901234567890}', 'the number 12345678901234567890 cannot be held exactly'],
  ['{"a": 1, "a": 2}', 'the key "a" occurs twice in one object; the last one is used'],
  [`${'['.repeat(200)}`, 'is nested deeper than 128 levels'],
  ['', 'must be an object'],
])('%s is not sent: %s', (text, message) => {
  const typed = text === '' ? emptied : pressAll(emptied, text);
  expect(typed.arguments()).toMatchObject({
    ok: false,
    form: { state: { faults: [{ path: '$', message }] } },
  });
});

test('arrows move through the lines; Tab goes to Run', () => {
  const raw = pressAll(FORM, '<ctrl-e>', '<down>', '<end>', '<left>', '<down>', '<up>', '<home>', 'x');
  expect(drawn(raw)).toContain('x[ ] "path": "a.txt"');
  const onRun = pressAll(raw, '<tab>');
  expect(onRun.wantsRun(press('<enter>'))).toBe(true);
  expect(drawn(onRun).at(-1)).toBe('❯ ▶ Run');
  expect(pressAll(onRun, '<up>').wantsRun(press('<enter>'))).toBe(false);
});

test('arguments whose schema is not an object are edited as JSON', () => {
  const form = Form.of({ type: 'array', items: {} });
  expect(drawn(form)[0]).toBe('As JSON: its schema describes no fields, or more than a form holds.');
  expect(drawn(pressAll(form, '<ctrl-e>'))[0]).toBe(drawn(form)[0]);
});

test('without properties there are only Run and the given arguments', () => {
  expect(drawn(Form.of({}))).toEqual(['  It names no arguments; Ctrl-E writes some as JSON.', '', '❯ ▶ Run']);
  expect(valueIn(Form.of({}))).toEqual({});
  expect(valueIn(Form.of({}, { a: 1 }))).toEqual({ a: 1 });
});
