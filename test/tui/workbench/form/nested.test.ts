import { expect, test } from 'vitest';
import { Form } from '../../../../src/tui/workbench/form/form.js';
import { drawn, formFor, pressAll, valueIn } from './support/pressing.js';

const PLACE = {
  type: 'object',
  properties: { line: { type: 'integer' }, column: { type: 'integer' } },
  required: ['line'],
};

test('a required object is open with its members; an optional one can be added and removed', () => {
  const form = formFor({ to: PLACE, at: PLACE }, ['at']);
  expect(drawn(form).slice(0, 6)).toEqual([
    '❯ to        + add                                                         object',
    '    ⏎ adds it',
    '  at*                                                                     object',
    '    line*                                                                integer',
    '    column                                                               integer',
    '',
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
    '  tags     2 items                                               array of string',
    '    0      alpha                                                          string',
    '❯   1      beta[ ]                                                          string',
    '    Ctrl-D removes it',
    '    + add',
  ]);
  expect(valueIn(two)).toEqual({ tags: ['alpha', 'beta'] });
  expect(valueIn(pressAll(two, '<up>', '<ctrl-d>'))).toEqual({ tags: ['beta'] });
  expect(valueIn(pressAll(two, '<down>', '<enter>'))).toEqual({ tags: ['alpha', 'beta', ''] });
  expect(valueIn(pressAll(form, '<ctrl-d>'))).toEqual({ tags: [] });
});

test('an error below the fields is reported at the nearest field', () => {
  const form = formFor({ config: { description: 'anything' } }, [], { config: { a: [1] } });
  expect(drawn(form.withFaults([{ path: '$.config.a[0]', message: 'must be string (type)' }]))).toContain(
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
  expect(below).toMatch(/^❯ {3}string {2}tomorrow\[ \] .*string$/);
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
  expect(drawn(Form.of(schema, given))[0]).toMatch(/^❯ arguments {2}‹ page › /);
  expect(valueIn(Form.of(schema, given))).toEqual(given);
  expect(valueIn(pressAll(Form.of(schema), ' ', '<down>', '<down>', 'a.txt'))).toEqual({
    kind: 'file',
    path: 'a.txt',
  });
});

test('local references are followed, and all of allOf applies', () => {
  const form = Form.of({
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
  const broken = pressAll(form, '<backspace>').arguments();
  expect(broken).toMatchObject({ ok: false, form: { state: { faults: [{ path: '$.line' }] } } });
});
