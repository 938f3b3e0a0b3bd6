import { expect, test } from 'vitest';
import { lineText, type Tone } from '../../../../src/render/line.js';
import { formArguments, formOf, withFaults, withSchema } from '../../../../src/tui/workbench/form/form.js';
import { formLines } from '../../../../src/tui/workbench/form/lines.js';
import { wantsRun } from '../../../../src/tui/workbench/form/press.js';
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

test('each property has a row: name, whether it is required, value, and beside it type and limits', () => {
  expect(drawn(EDIT)).toEqual([
    '❯ path*    [ ]                              string · required · Ctrl-D sends ""',
    '    The file to edit, relative to the project',
    '  mode*    ‹ – ›                          enum',
    '  line                                    integer · at least 1',
    '  ratio                                   number',
    '  dry_run  ‹ true ›                       boolean',
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
  const read = formArguments(pressAll(EDIT, '<down>', 'c', '<down>', 'twelve', '<tab>', '1e999'));
  if (read.ok) throw new Error('it has faults');
  expect(drawn(read.form).filter(row => /✗|❯|Run/.test(row))).toEqual([
    '❯ path*    [ ]                              string · required · Ctrl-D sends ""',
    '    ✗ is required',
    '    ✗ must be an integer, as 42',
    '    ✗ the number 1e999 is too large to hold',
    '  ▶ Run   3 errors',
  ]);
  expect(drawn(pressAll(read.form, 'x')).filter(row => row.includes('is required'))).toEqual([]);
});

test('errors of the schema are shown at their fields, others at the top', () => {
  const form = withFaults(EDIT, [
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
  expect(wantsRun(EDIT, press('<ctrl-r>'))).toBe(true);
  expect(wantsRun(EDIT, press('<enter>'))).toBe(false);
  const onRun = pressAll(EDIT, '<pageDown>');
  expect(wantsRun(onRun, press('<enter>'))).toBe(true);
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
  expect(formArguments(form).ok).toBe(false);
  expect(drawn(pressAll(form, '<ctrl-d>'))[0]).toMatch(/ {2}string · sends "" · Ctrl-D does not$/);
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
  const typed = (text: string, type = 'number') => formArguments(pressAll(formFor({ n: { type } }), text));
  expect(typed(' 1.50 ')).toMatchObject({ value: { n: 1.5 } });
  expect(typed('9007199254740992')).toMatchObject({ value: { n: 2 ** 53 } });
  expect(typed('1e3', 'integer')).toMatchObject({ value: { n: 1_000 } });
  for (const wrong of ['9007199254740993', '1e999', '1,5', '0x10', 'NaN', '01', '-'])
    expect(typed(wrong)).toMatchObject({ ok: false, form: { faults: [{ path: '$.n' }] } });
  expect(typed('1.5', 'integer')).toMatchObject({
    form: { faults: [{ message: 'must be an integer' }] },
  });
});

test('defaults are filled in whatever else is given; a call that is edited keeps its arguments', () => {
  const properties = {
    a: { type: 'integer', default: 7 },
    b: { type: 'string', default: 'x' },
    c: { default: [1] },
  };
  expect(valueIn(formFor(properties))).toEqual({ a: 7, b: 'x', c: [1] });
  expect(valueIn(formFor(properties, ['a'], { b: 'y' }))).toEqual({ a: 7, b: 'y', c: [1] });
  expect(valueIn(formFor(properties, [], { b: 'y' }, 'none'))).toEqual({ b: 'y' });
});

const PLACE = {
  type: 'object',
  properties: { line: { type: 'integer' }, column: { type: 'integer' } },
  required: ['line'],
};

test('a required object is open with its members; an optional one can be added and removed', () => {
  const form = formFor({ to: PLACE, at: PLACE }, ['at']);
  expect(drawn(form).slice(0, 6)).toEqual([
    '❯ to        + add                                  object · ⏎ adds it',
    '  at*                                              object',
    '    line*                                          integer',
    '    column                                         integer',
    '',
    '  ▶ Run',
  ]);
  const added = pressAll(form, '<down>', '3', '<up>', '<enter>', '1');
  expect(valueIn(added)).toEqual({ to: { line: 1 }, at: { line: 3 } });
  expect(valueIn(pressAll(added, '<up>', '<ctrl-d>'))).toEqual({ at: { line: 3 } });
});

test('items can be added and removed', () => {
  const form = formFor({ tags: { type: 'array', items: { type: 'string' } }, last: { type: 'string' } });
  expect(valueIn(form)).toEqual({});
  const two = pressAll(form, '<enter>', 'alpha', '<enter>', '<enter>', 'beta');
  expect(drawn(two).slice(0, 5)).toEqual([
    '  tags     2 items                      array of string',
    '    0      alpha                        string',
    '❯   1      beta[ ]                        string · Ctrl-D removes it',
    '    + add',
    '  last                                  string',
  ]);
  expect(valueIn(two)).toEqual({ tags: ['alpha', 'beta'] });
  expect(valueIn(pressAll(two, '<up>', '<ctrl-d>'))).toEqual({ tags: ['beta'] });
  expect(valueIn(pressAll(two, '<down>', '<enter>'))).toEqual({ tags: ['alpha', 'beta', ''] });
  expect(valueIn(pressAll(form, '<ctrl-d>'))).toEqual({ tags: [] });
});

test('an error below the fields is reported at the nearest field', () => {
  const form = formFor({ config: { description: 'anything' } }, [], { config: { a: [1] } });
  expect(drawn(withFaults(form, [{ path: '$.config.a[0]', message: 'must be string (type)' }]))).toContain(
    '    ✗ .a[0] must be string (type)',
  );
});

test('one of several types can be chosen; typing at once means a text', () => {
  const form = formFor({
    when: { anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }] },
    either: { type: ['string', 'null'] },
  });
  expect(valueIn(form)).toEqual({});
  const typed = pressAll(form, 'tomorrow');
  const [chosen, below] = drawn(typed);
  expect(chosen).toMatch(/^ {2}when {6}‹ string › {2}1 of 3 .*one of$/);
  expect(below).toMatch(/^❯ {3}string {2}tomorrow\[ \] .*string · required$/);
  expect(valueIn(typed)).toEqual({ when: 'tomorrow' });
  expect(valueIn(pressAll(form, '12', '<down>', ' ', ' '))).toEqual({ when: 12, either: null });
});

test('variants of an object differ by their required members', () => {
  const variant = (kind: string, name: string) => ({
    title: kind,
    properties: { kind: { const: kind }, [name]: { type: 'string' } },
    required: ['kind', name],
  });
  const schema = { type: 'object', oneOf: [variant('file', 'path'), variant('page', 'url')] };
  const given = { kind: 'page', url: 'x' };
  expect(drawn(formOf(schema, given))[0]).toMatch(/^❯ arguments {2}‹ page › /);
  expect(valueIn(formOf(schema, given))).toEqual(given);
  expect(valueIn(pressAll(formOf(schema), ' ', '<down>', '<down>', 'a.txt'))).toEqual({
    kind: 'file',
    path: 'a.txt',
  });
});

test('local references are followed, and all of allOf applies', () => {
  const form = formOf({
    $defs: {
      Name: { type: 'string', description: 'A name' },
      Node: { properties: { next: { $ref: '#/$defs/Node' } } },
    },
    allOf: [{ properties: { name: { $ref: '#/$defs/Name' } } }, { required: ['name'] }],
    properties: { node: { $ref: '#/$defs/Node' }, far: { $ref: 'https://example.com/x' } },
  });
  const rows = drawn(pressAll(form, '<down>', '<enter>', '<enter>'));
  expect(rows.filter(row => row.includes('next'))).toHaveLength(2);
  expect(rows.some(row => /far .*JSON$/.test(row))).toBe(true);
  expect(rows.some(row => /name\* .*string$/.test(row))).toBe(true);
});

test('unknown members are kept as fields that can be removed', () => {
  const form = formFor({ a: { type: 'string' } }, [], { a: 'x', 'not named': { deep: [1] } });
  expect(valueIn(form)).toEqual({ a: 'x', 'not named': { deep: [1] } });
  expect(valueIn(pressAll(form, '<down>', '<ctrl-d>'))).toEqual({ a: 'x' });
});

test('a value of another type than its field is kept as JSON, and can be corrected', () => {
  const form = formFor({ line: { type: 'integer' } }, [], { line: 'twelve' });
  expect(drawn(form)[0]).toMatch(/"twelve"\[ \] .*integer as JSON$/);
  expect(valueIn(pressAll(form, '<ctrl-u>', '12'))).toEqual({ line: 12 });
  const broken = formArguments(pressAll(form, '<backspace>'));
  expect(broken).toMatchObject({ ok: false, form: { faults: [{ path: '$.line' }] } });
});

const FORM = formFor({ path: { type: 'string' }, line: { type: 'integer' } }, ['path'], { path: 'a.txt' });
const ALL_ERASED = Array.from({ length: 30 }, () => '<ctrl-u>');
const emptied = pressAll(FORM, '<ctrl-o>', '<pageDown>', '<end>', ...ALL_ERASED);

test('Ctrl-O shows the arguments as JSON and goes back', () => {
  const raw = pressAll(FORM, '<ctrl-o>');
  expect(drawn(raw)).toEqual([
    'As JSON: Ctrl-O goes back to the fields.',
    '{',
    '  ["]path": "a.txt"',
    '}',
    '',
    '  ▶ Run',
  ]);
  expect(drawn(pressAll(raw, '<ctrl-o>'))).toEqual(drawn(FORM));
});

test('edited JSON becomes the arguments and the fields', () => {
  const typed = pressAll(emptied, '{"path": "b.txt",\r "line": 3}');
  expect(valueIn(typed)).toEqual({ path: 'b.txt', line: 3 });
  expect(drawn(pressAll(typed, '<ctrl-o>')).slice(0, 3).join('\n')).toMatch(/path.*b\.txt.*line.* 3 /s);
});

test('invalid JSON stays as typed, with its error at the top and the cursor in place', () => {
  const back = pressAll(emptied, '{"path": "b.txt",', '<enter>', '  "line": }', '<ctrl-o>');
  expect(drawn(back)).toEqual([
    '  ✗ line 2, column 11: found "}" where a value is expected',
    'As JSON: Ctrl-O goes back to the fields.',
    '{"path": "b.txt",',
    '  "line": [}]',
    '',
    '  ▶ Run   1 error',
  ]);
  expect(formArguments(back)).toMatchObject({ ok: false });
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
  expect(formArguments(typed)).toMatchObject({
    ok: false,
    form: { faults: [{ path: '$', message }] },
  });
});

test('arrows move through the lines; Tab goes to Run', () => {
  const raw = pressAll(FORM, '<ctrl-o>', '<down>', '<end>', '<left>', '<down>', '<up>', '<home>', 'x');
  expect(drawn(raw)).toContain('x[ ] "path": "a.txt"');
  const onRun = pressAll(raw, '<tab>');
  expect(wantsRun(onRun, press('<enter>'))).toBe(true);
  expect(drawn(onRun).at(-1)).toBe('❯ ▶ Run');
  expect(wantsRun(pressAll(onRun, '<up>'), press('<enter>'))).toBe(false);
});

test('arguments whose schema is not an object are edited as JSON', () => {
  const form = formOf({ type: 'array', items: {} });
  expect(drawn(form)[0]).toBe('As JSON: its schema describes no fields, or more than a form holds.');
  expect(drawn(pressAll(form, '<ctrl-o>'))[0]).toBe(drawn(form)[0]);
});

test('without properties there are only Run and the given arguments', () => {
  expect(drawn(formOf({}))).toEqual(['  It names no arguments; Ctrl-O writes some as JSON.', '', '❯ ▶ Run']);
  expect(valueIn(formOf({}))).toEqual({});
  expect(valueIn(formOf({}, { a: 1 }))).toEqual({ a: 1 });
});

test('JSON that leaves out a default stays without it in the fields', () => {
  const form = formFor({ a: { type: 'integer', default: 7 } }, ['a']);
  const erased = pressAll(form, '<ctrl-o>', '<pageDown>', '<end>', ...ALL_ERASED, '{}', '<ctrl-o>');
  expect(formArguments(erased)).toMatchObject({ ok: false, form: { faults: [{ path: '$.a' }] } });
});

test('a changed schema fills in new required values, and no optional ones that were emptied', () => {
  const form = formFor({ a: { type: 'string', default: 'x' } });
  const schema = {
    properties: { a: { type: 'string', default: 'x' }, b: { type: 'integer', default: 2 } },
    required: ['b'],
  };
  expect(valueIn(withSchema(pressAll(form, '<ctrl-u>'), schema))).toEqual({ b: 2 });
});

test.each([
  ['a known format', 'uuid', 'string · format uuid (warns only)'],
  ['an unknown format', 'street-address', 'string · format street-address (not checked)'],
])('says what %s does', (_, format, seen) => {
  const form = formFor({ first: {}, a: { type: 'string', format } });
  expect(drawn(form, 100).find(row => row.startsWith('  a'))).toMatch(
    new RegExp(`${seen.replaceAll(/[()]/g, '.')}$`),
  );
});

test('limits and hints that do not fit beside the field are below it', () => {
  const about = { type: 'string', pattern: '^[a-z]+(/[a-z]+)*$', minLength: 2, maxLength: 60 };
  const rows = drawn(formFor({ path: about, other: about }), 70);
  expect(rows.slice(0, 4)).toEqual([
    '❯ path   [ ]                         string',
    '    characters from 2 · characters up to 60 · pattern',
    '    ^[a-z]+(/[a-z]+)*$ · empty: left out · Ctrl-D sends ""',
    '  other                            string · characters from 2',
  ]);
});

test.each([40, 58, 60, 80, 98, 119])('in %i columns nothing moves while a text is typed', columns => {
  const form = formFor({ service: { type: 'string' }, n: { type: 'integer', minimum: 1, maximum: 9 } });
  const other = drawn(form, columns).find(row => row.startsWith('  n'));
  for (const text of ['a', 'b'.repeat(24), 'c'.repeat(99), '日本語テキスト🙂🙂👩‍👩‍👧']) {
    const rows = drawn(pressAll(form, text), columns);
    expect(rows.find(row => row.startsWith('  n'))).toBe(other);
  }
});

test('a long value has 24 to 40 cells, and shows its end', () => {
  const form = formFor({ path: { type: 'string' }, n: { type: 'integer' } }, [], { path: 'x'.repeat(60) });
  expect(drawn(form, 100)[0]).toBe(`❯ path  …${'x'.repeat(38)}[ ]  string`);
  expect(drawn(form, 50)[0]).toBe(`❯ path  …${'x'.repeat(22)}[ ]  string`);
});

test('a narrow form has no types beside its values, but says the type of the focused field', () => {
  const form = formFor({ n: { type: 'integer', minimum: 1 }, text: { type: 'string' } }, ['n'], {
    text: 'x'.repeat(33),
  });
  expect(drawn(form, 40).slice(0, 3)).toEqual([
    '❯ n*    [ ]',
    '    integer · required · at least 1',
    `  text  ${'x'.repeat(31)}…`,
  ]);
});

test('JSON is coloured, however the cursor splits it', () => {
  const form = pressAll(FORM, '<ctrl-o>', '<end>', '<left>', '<left>');
  const [, , line = []] = formLines(form, { columns: 40, rows: 9 });
  const of = (wanted: Tone) => lineText(line.filter(({ tone }) => tone === wanted));
  expect([of('name'), of('string'), of('cursor')]).toEqual(['"path"', '"a.tx"', 't']);
});

test.each([
  [formFor({}), '{[}]'],
  [FORM, '  ["]path": "a.txt"'],
])('JSON opens with the cursor inside its braces', (form, row) => {
  expect(drawn(pressAll(form, '<ctrl-o>'))).toContain(row);
});
