import { expect, test } from 'vitest';
import { brokenValues } from '../../src/json-schema/check-schema.js';
import { checkValue } from '../../src/json-schema/validator.js';

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
  (await brokenValues({ ...schema }, valid, most)).map(({ how, value }) => [how, value]);

test('breaks everything that can be broken, one of each kind first', async () => {
  expect(await brokenIn(SCHEMA, VALID)).toEqual([
    ['path is missing', { lines: 1 }],
    ['path is no string', { path: 42, lines: 1 }],
    ['path is outside of what is allowed', { path: '', lines: 1 }],
    ['not_in_the_schema is not allowed', { ...VALID, not_in_the_schema: true }],
    ['lines is missing', { path: 'a' }],
    ['lines is no integer', { path: 'a', lines: 'no number' }],
    ['path is outside of what is allowed', { path: 'xxxx', lines: 1 }],
    ['mode is no string', { ...VALID, mode: 42 }],
    ['lines is outside of what is allowed', { path: 'a', lines: 0 }],
    ['lines is outside of what is allowed', { path: 'a', lines: 10 }],
    ['mode is outside of what is allowed', { ...VALID, mode: 'a value that is not allowed' }],
  ]);
});

test('each of them is invalid', async () => {
  for (const { value } of await brokenValues(SCHEMA, VALID, 100))
    expect(await checkValue(SCHEMA, value)).toMatchObject({ kind: 'invalid' });
});

test('no more than wanted', async () => {
  expect(await brokenIn(SCHEMA, VALID, 6)).toHaveLength(6);
});

test('nothing of a schema that takes anything, or cannot be used', async () => {
  expect(await brokenIn({ type: 'object' })).toEqual([]);
  expect(await brokenIn({ properties: { a: {} } })).toEqual([]);
  expect(await brokenIn({ $ref: 'http://127.0.0.1:9/x.json' })).toEqual([]);
});

test('what is behind a $ref is broken too', async () => {
  const schema = { properties: { a: { $ref: '#/$defs/n' } }, $defs: { n: { type: 'integer' } } };
  expect(await brokenIn(schema)).toEqual([['a is no integer', { a: 'no number' }]]);
});

test('threats, row 22: of a schema with 500 properties a few are broken, and soon', async () => {
  const names = Array.from({ length: 500 }, (_, index) => `p${index}`);
  const properties = Object.fromEntries(names.map(name => [name, { type: 'string' }]));
  const valid = Object.fromEntries(names.map(name => [name, 'x'.repeat(500)]));
  const start = performance.now();
  expect(await brokenValues({ properties, required: names }, valid, 6)).toHaveLength(6);
  expect(performance.now() - start).toBeLessThan(3_000);
});
