import { expect, test } from 'vitest';
import { ArgumentMaker } from '../../src/json-schema/example.js';
import { checkValue } from '../../src/json-schema/validator.js';
import { expectCpuBelow } from '../support/cpu-ms.js';

const SCHEMA = {
  type: 'object',
  properties: {
    path: { type: 'string', minLength: 1, maxLength: 3 },
    lines: { type: 'integer', minimum: 1, maximum: 9 },
    mode: { enum: ['fast', 'slow'] },
  },
  required: ['path', 'lines'],
  additionalProperties: false,
};
const VALID = { path: 'a', lines: 1 };

const brokenIn = async (schema: object, valid: Record<string, unknown> = {}, most = 100) =>
  (await ArgumentMaker.for({ ...schema })).invalid(valid, most);

test('violates every keyword; one violation of each kind comes first', async () => {
  expect(await brokenIn(SCHEMA, VALID)).toEqual([
    { lines: 1 },
    { path: 42, lines: 1 },
    { path: '', lines: 1 },
    { ...VALID, not_in_the_schema: true },
    { path: 'a' },
    { path: 'a', lines: 'not a number' },
    { path: 'xxxx', lines: 1 },
    { ...VALID, mode: 42 },
    { path: 'a', lines: 0 },
    { path: 'a', lines: 10 },
    { ...VALID, mode: 'a value that is not allowed' },
  ]);
});

test('all values are invalid', async () => {
  for (const value of await brokenIn(SCHEMA, VALID))
    expect(await checkValue(SCHEMA, value)).toMatchObject({ kind: 'invalid' });
});

test('returns no more than requested', async () => {
  expect(await brokenIn(SCHEMA, VALID, 6)).toHaveLength(6);
});

test('returns none for a schema that accepts everything or cannot be used', async () => {
  expect(await brokenIn({ type: 'object' })).toEqual([]);
  expect(await brokenIn({ properties: { a: {} } })).toEqual([]);
  expect(await brokenIn({ $ref: 'http://127.0.0.1:9/x.json' })).toEqual([]);
});

test('also violates the target of a $ref', async () => {
  const schema = { properties: { a: { $ref: '#/$defs/n' } }, $defs: { n: { type: 'integer' } } };
  expect(await brokenIn(schema)).toEqual([{ a: 'not a number' }]);
});

test('also violates what is within an argument', async () => {
  const schema = {
    properties: { filter: { $ref: '#/$defs/filter' } },
    $defs: {
      filter: {
        type: 'object',
        properties: { from: { type: 'integer' }, tags: { type: 'array', items: { type: 'string' } } },
        required: ['from'],
      },
    },
  };
  const filter = { from: 1, tags: ['a'] };
  const found = await brokenIn(schema, { filter });
  expect(found).toContainEqual({ filter: { tags: ['a'] } });
  expect(found).toContainEqual({ filter: { ...filter, from: 'not a number' } });
  expect(found).toContainEqual({ filter: { ...filter, tags: ['a', 42] } });
});

test('threats, row 22: returns a few values for a schema with 500 properties, in time', async () => {
  const names = Array.from({ length: 500 }, (_, index) => `p${index}`);
  const properties = Object.fromEntries(names.map(name => [name, { type: 'string' }]));
  const valid = Object.fromEntries(names.map(name => [name, 'x'.repeat(500)]));
  await expectCpuBelow(3_000, async () =>
    expect(await brokenIn({ properties, required: names }, valid, 6)).toHaveLength(6),
  );
});
