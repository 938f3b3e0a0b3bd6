import fc from 'fast-check';
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { lineText } from '../../../../src/render/line.js';
import { formOf } from '../../../../src/tui/workbench/form/form.js';
import { formLines } from '../../../../src/tui/workbench/form/lines.js';
import { isRecord } from '../../../../src/util/values.js';
import { anyCodePoint } from '../../../support/characters.js';
import { pressAll, valueIn } from './support/pressing.js';

interface Case {
  readonly schema: Readonly<Record<string, unknown>>;
  readonly value: unknown;
}

const KEYS = ['a', 'b', 'c d', '0', '__proto__', 'é', ''];

/** JSON writes no -0. */
const number = fc.double({ noNaN: true, noDefaultInfinity: true }).map(value => (value === 0 ? 0 : value));

const json = fc.jsonValue().filter(value => !JSON.stringify(value).includes('-0'));

const asJson = json.map((value): unknown => JSON.parse(JSON.stringify(value)));

const NOTHING: Case = { schema: {}, value: null };

const given = fc.constantFrom('required', 'given', 'absent', 'unnamed');

const leaf: fc.Arbitrary<Case> = fc.oneof(
  fc.string({ unit: anyCodePoint }).map(value => ({ schema: { type: 'string', default: 'd' }, value })),
  number.map(value => ({ schema: { type: 'number', default: 1 }, value })),
  fc.integer().map(value => ({ schema: { type: 'integer' }, value })),
  fc.boolean().map(value => ({ schema: { type: 'boolean' }, value })),
  asJson.map(value => ({ schema: {}, value })),
  fc
    .tuple(fc.array(asJson), asJson)
    .map(([others, value]) => ({ schema: { enum: [...others, value] }, value })),
  asJson.map(value => ({
    schema: { type: ['string', 'null', 'object', 'array', 'number', 'boolean'] },
    value,
  })),
);

/** Schemas, and for each a value that it allows. */
const { described, object } = fc.letrec<{ described: Case; object: Case }>(tie => ({
  described: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    leaf,
    fc.array(tie('described'), { minLength: 1, maxLength: 4 }).map(anyOf),
    fc.tuple(tie('described'), fc.nat(3)).map(([{ schema, value }, count]) => ({
      schema: { type: 'array', items: schema },
      value: Array.from({ length: count }, () => value),
    })),
    tie('object'),
  ),
  object: fc
    .array(fc.tuple(fc.constantFrom(...KEYS), tie('described'), given), { maxLength: 5 })
    .map(objectOf),
}));

function anyOf([one = NOTHING, ...others]: readonly Case[]): Case {
  return { schema: { anyOf: [...others.map(({ schema }) => schema), one.schema] }, value: one.value };
}

function objectOf(members: readonly (readonly [string, Case, string])[]): Case {
  const once = [...new Map(members.map(member => [member[0], member])).values()];
  const named = once.filter(([, , how]) => how !== 'unnamed');
  return {
    schema: {
      type: 'object',
      properties: Object.fromEntries(named.map(([key, { schema }]) => [key, schema])),
      required: once.filter(([, , how]) => how === 'required').map(([key]) => key),
    },
    value: Object.fromEntries(
      once.filter(([, , how]) => how !== 'absent').map(([key, { value }]) => [key, value]),
    ),
  };
}

test('given values that match the schema are kept by the fields, by JSON, and by both in turn', () => {
  fc.assert(
    fc.property(object, ({ schema, value }) => {
      if (!isRecord(value)) throw new Error('arguments are an object');
      const form = formOf(schema, value, 'none');
      expect(valueIn(form)).toEqual(value);
      const plain: unknown = JSON.parse(JSON.stringify(value));
      const byHand = pressAll(form, '<ctrl-o>', '<pageDown>', '<end>', ' ');
      expect(valueIn(byHand)).toEqual(plain);
      expect(valueIn(pressAll(byHand, '<ctrl-o>'))).toEqual(plain);
    }),
    { numRuns: 40 },
  );
});

test('a variant that would add a required object is not chosen for a value without it', () => {
  const inner = {
    type: 'object',
    properties: { a: { type: 'object', properties: { b: {} } } },
    required: ['a'],
  };
  const form = formOf({ properties: { a: { anyOf: [inner, {}] } } }, { a: {} });
  expect(valueIn(form)).toEqual({ a: {} });
});

test('no row is wider than the terminal, and the focus is always visible', () => {
  const keys = fc.array(
    fc.constantFrom('<up>', '<down>', '<enter>', '<right>', '<ctrl-d>', ' ', 'x', '<ctrl-o>', '<pageDown>'),
    { maxLength: 20 },
  );
  fc.assert(
    fc.property(described, keys, fc.integer({ min: 20, max: 100 }), ({ schema }, pressed, columns) => {
      const form = pressAll(formOf({ properties: { one: schema, two: { type: 'string' } } }), ...pressed);
      const lines = formLines(form, { columns, rows: 9 });
      expect(lines.map(lineText).filter(row => stringWidth(row) > columns)).toEqual([]);
      const isFocused = lines.some(
        line => lineText(line).startsWith('❯') || line.some(({ tone }) => tone === 'cursor'),
      );
      expect(isFocused).toBe(true);
    }),
    { numRuns: 40 },
  );
});
