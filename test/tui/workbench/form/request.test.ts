import { expect, test } from 'vitest';
import { lineText } from '../../../../src/render/line.js';
import { type FormState, withFaults } from '../../../../src/tui/workbench/form/form.js';
import { formWidths, requestLines } from '../../../../src/tui/workbench/form/request.js';
import { expectCpuBelow } from '../../../support/cpu-ms.js';
import { formFor, pressAll, valueIn } from './support/pressing.js';

const request = (form: FormState, columns = 60, rows = 40) =>
  requestLines(form, { columns, rows }).map(lineText);

const FORM = formFor(
  {
    path: { type: 'string' },
    line: { type: 'integer' },
    to: { type: 'object', properties: { x: { type: 'number' }, y: { type: 'number' } }, required: ['x'] },
    tags: { type: 'array', items: { type: 'string' } },
    either: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    any: {},
  },
  ['path'],
  { to: { x: 1 }, tags: ['a', 'b'], either: null, any: { deep: [1] } },
);

test('shows the arguments as they are typed; a missing value is marked', () => {
  expect(request(FORM)).toEqual([
    'REQUEST',
    '  {',
    '!   "path": …  is required',
    '    "to": {',
    '      "x": 1',
    '    },',
    '    "tags": [',
    '      "a",',
    '      "b"',
    '    ],',
    '    "either": null,',
    '    "any": {',
    '      "deep": [',
    '        1',
    '      ]',
    '    }',
    '  }',
  ]);
});

test('the JSON is what is sent', () => {
  const form = pressAll(FORM, 'a\n"b".txt');
  const text = request(form).slice(1).join('\n');
  expect(JSON.parse(text)).toEqual(valueIn(form));
  expect(request(formFor({ to: { type: 'object', properties: { a: {} } } }, ['to'])).slice(1)).toEqual([
    '  {',
    '    "to": {}',
    '  }',
  ]);
});

test('invalid values are marked: those that cannot be read, and those that the schema refuses', () => {
  const form = withFaults(pressAll(FORM, 'x', '<down>', 'twelve'), [
    { path: '$.to', message: 'must have fewer properties' },
  ]);
  expect(request(form).filter(row => row.startsWith('✗'))).toEqual([
    '✗   "line": "twelve",  must be an integer, as 42',
    '✗   "to": {  must have fewer properties',
  ]);
});

test('names where it is sent', () => {
  const target = { method: 'POST', url: 'http://127.0.0.1:3001/invoke' };
  const [heading = []] = requestLines(FORM, { columns: 60, rows: 9 }, target);
  expect(lineText(heading)).toBe('REQUEST  POST http://127.0.0.1:3001/invoke');
});

test('a request that is longer than the form shows the value of the focused field', () => {
  const names = Array.from({ length: 50 }, (_, index) => `field${index}`);
  const form = formFor(Object.fromEntries(names.map(name => [name, { type: 'string', default: name }])));
  const rows = request(pressAll(form, '<pageDown>', '<pageDown>'), 60, 8);
  expect(rows).toHaveLength(8);
  expect(rows[4]).toBe('    "field20": "field20",');
});

test('it takes the right half of a wide form with fields', () => {
  expect(formWidths(FORM, 119)).toEqual([119, 0]);
  expect(formWidths(FORM, 120)).toEqual([58, 59]);
  expect(formWidths(pressAll(FORM, '<ctrl-o>'), 200)).toEqual([200, 0]);
});

test('threats, row 22: a megabyte of JSON is read once, not for each key', async () => {
  const any = { list: Array.from({ length: 100_000 }, (_, index) => `item ${index}`) };
  const form = formFor({ any: {}, path: { type: 'string' } }, [], { any });
  request(form);
  await expectCpuBelow(500, () => {
    let typed = pressAll(form, '<down>');
    for (let count = 0; count < 50; count++) {
      typed = pressAll(typed, 'x');
      expect(request(typed, 60, 200).some(row => row.includes('"path": "x'))).toBe(true);
    }
  });
});
