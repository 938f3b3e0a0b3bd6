import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { lineText } from '../../../../src/render/line.js';
import {
  type FormState,
  formArguments,
  formOf,
  withFaults,
} from '../../../../src/tui/workbench/form/form.js';
import { formLines } from '../../../../src/tui/workbench/form/lines.js';
import { requestLines } from '../../../../src/tui/workbench/form/request.js';
import { expectCpuBelow } from '../../../support/cpu-ms.js';
import { drawn, formFor, pressAll, valueIn } from './support/pressing.js';

const EVIL = 'a\u001b]0;x\u0007\r\u202eb\u200b\tc\n漢👩‍💻e\u0301\u001b[2J';
const own = (text: string): Readonly<Record<string, unknown>> => JSON.parse(text);

function expectSafe(form: FormState): void {
  for (const columns of [1, 5, 40, 80])
    for (const rows of [1, 4, 24]) {
      const size = { columns, rows };
      for (const lines of [formLines(form, size), requestLines(form, size, { method: 'POST', url: EVIL })]) {
        expect(lines.length).toBeLessThanOrEqual(rows);
        for (const line of lines.map(lineText)) {
          expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u);
          if (columns >= 5) expect(stringWidth(line)).toBeLessThanOrEqual(columns);
        }
      }
    }
}

test('row 24: names, descriptions, values, choices and errors are made visible, and no row is too wide', () => {
  const form = formFor(
    {
      [EVIL]: { type: 'string', title: EVIL, description: EVIL, pattern: EVIL, format: EVIL },
      choice: { enum: [EVIL, `${EVIL}2`, 3] },
      variant: { oneOf: [{ title: EVIL, type: 'string' }, { type: 'null' }] },
      list: { type: 'array', items: { type: EVIL } },
    },
    [EVIL],
    { [EVIL]: EVIL, choice: EVIL, variant: EVIL, list: [EVIL] },
  );
  const faults = [
    { path: '$', message: EVIL },
    { path: `$.${EVIL}`, message: EVIL },
    { path: '$.choice', message: EVIL.repeat(99) },
  ];
  for (let stop = 0; stop < 6; stop++) {
    const at = pressAll(form, ...Array.from({ length: stop }, () => '<down>'));
    expectSafe(withFaults(at, faults));
    expectSafe(pressAll(at, '<left>', '<left>'));
  }
  expectSafe(pressAll(form, '<ctrl-o>', '<down>', '<end>', EVIL));
});

test('row 19: prototype names are names like any other', () => {
  const text = '{"__proto__": {"polluted": true}, "constructor": "x", "toString": 1}';
  const schema = own(
    '{"properties": {"__proto__": {"properties": {"polluted": {"type": "boolean"}}}, "constructor": {"type": "string"}}}',
  );
  const form = formOf(schema, own(text));
  expect(JSON.stringify(valueIn(form))).toBe(JSON.stringify(own(text)));
  expect(JSON.stringify(valueIn(pressAll(form, '<ctrl-o>', '<down>', ' ')))).toBe(JSON.stringify(own(text)));
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false);
  expectSafe(form);
});

test.each<[string, Readonly<Record<string, unknown>>]>([
  ['refers to itself', { $ref: '#' }],
  [
    'demands itself',
    { properties: { a: { $ref: '#' }, b: { $ref: '#' }, c: { $ref: '#' } }, required: ['a', 'b', 'c'] },
  ],
  ['consists of itself', { allOf: Array.from({ length: 100 }, () => ({ $ref: '#' })) }],
  ['may be itself', { anyOf: Array.from({ length: 20 }, () => ({ $ref: '#' })) }],
  [
    'is deep',
    Array.from({ length: 5_000 }).reduce<Record<string, unknown>>(
      inner => ({ properties: { a: inner }, required: ['a'] }),
      {},
    ),
  ],
  ['is not a schema', { type: 7, properties: 'x', required: {}, allOf: 3, anyOf: 'y', enum: {}, items: [] }],
  [
    'has parts that are not one',
    { properties: { a: null, b: 3, c: [], d: true, e: { type: ['string', 7, null] }, f: { enum: [] } } },
  ],
  ['has ten thousand types', { properties: { a: { type: Array.from({ length: 10_000 }, () => 'string') } } }],
])('a schema that %s ends', (_, schema) => {
  const form = formOf(schema);
  expectSafe(form);
  expectSafe(pressAll(form, ' ', '<enter>', 'x', '<down>', '<ctrl-d>', '<ctrl-o>'));
  const args = formArguments(form);
  expect(JSON.stringify(args.ok ? args.value : args.form.faults).length).toBeLessThan(1_000_000);
});

test('of ten thousand properties none is a field; they are edited as JSON', () => {
  const properties = Object.fromEntries(
    Array.from({ length: 10_000 }, (_, index) => [`p${index}`, { type: 'string' }]),
  );
  expect(drawn(formFor(properties))[0]).toContain('more than a form holds');
  expect(valueIn(formFor({ whole: { type: 'object', properties } }, [], { whole: { p7: 'x' } }))).toEqual({
    whole: { p7: 'x' },
  });
});

test('ten thousand choices are one row', () => {
  const form = formFor({ one: { enum: Array.from({ length: 10_000 }, (_, index) => `word ${index}`) } });
  expect(drawn(pressAll(form, '<left>'))[0]).toMatch(/‹ word 9999 › {2}10000 of 10000/);
});

test('a text of a megabyte is drawn around its cursor', () => {
  const form = formFor({ text: { type: 'string' } }, [], {
    text: `${'x'.repeat(500_000)}|${'y'.repeat(500_000)}`,
  });
  expect(drawn(form)[0]).toMatch(/…y+\[ \]/);
  expect(drawn(pressAll(form, '<home>'))[0]).toMatch(/\[x\]x+…/);
  expectSafe(form);
});

const WORDS = Array.from({ length: 100_000 }, (_, index) => `word ${index}`);
const OBJECTS = WORDS.slice(0, 10_000).map(word => ({ word }));
const PARTS = {
  part: {
    properties: Object.fromEntries(WORDS.slice(0, 100).map(word => [word, { $ref: '#/$defs/words' }])),
  },
  words: { enum: WORDS.slice(0, 9_000) },
  any: {
    anyOf: Array.from({ length: 20 }, () => ({
      allOf: Array.from({ length: 30 }, () => ({ $ref: '#/$defs/part' })),
    })),
    default: { 'word 1': 'word 8999', 'word 2': 'z' },
  },
};
test.each<[string, Readonly<Record<string, unknown>>]>([
  [
    'an enum of 100,000 values for each of 900 items',
    { properties: { a: { type: 'array', items: { enum: WORDS }, default: Array(900).fill('word 99999') } } },
  ],
  [
    'an enum of 10,000 objects for each of 400 items',
    {
      properties: {
        a: { type: 'array', items: { enum: OBJECTS }, default: Array(400).fill(OBJECTS.at(-1)) },
      },
    },
  ],
  [
    'alternatives of parts of many properties, 900 times',
    {
      properties: Object.fromEntries(WORDS.slice(0, 900).map(word => [word, { $ref: '#/$defs/any' }])),
      $defs: PARTS,
    },
  ],
])('threats, row 22: the form of %s opens soon', async (_, schema) => {
  await expectCpuBelow(3_000, () => {
    const form = pressAll(formOf({ type: 'object', ...schema }), 'x', '<enter>', '<down>', '<left>');
    formLines(form, { columns: 80, rows: 24 });
    requestLines(form, { columns: 80, rows: 24 });
    formArguments(form);
  });
});
