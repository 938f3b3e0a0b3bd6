import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkSchemas } from '../../src/json-schema/check-schema.js';
import { isPlain, isValid } from '../../src/json-schema/plain-schema.js';
import { checkValue, valueChecker } from '../../src/json-schema/validator.js';

/** A keyword without a meaning in every draft: with it, ajv decides. */
const byAjv = <Schema extends object>(schema: Schema) => ({ ...schema, 'x-not-plain': true });

const NAMES = fc.constantFrom('a', 'b', 'constructor', '__proto__', 'toString', '$ref');
const SCALARS = fc.oneof(fc.constantFrom('a', 'b', '😀', 0, 1, 1.5, -0, 1e300, true, null), fc.string());

const TYPES = fc.constantFrom('null', 'boolean', 'string', 'number', 'integer', 'array', 'object');

const LEAF = { type: TYPES, default: SCALARS, enum: fc.uniqueArray(SCALARS, { maxLength: 3 }) };

const LIMITS = {
  ...{ minimum: fc.constantFrom(0, 1, 1.5), maximum: fc.constantFrom(0, 1, 1e3) },
  ...{ minLength: fc.nat({ max: 2 }), maxLength: fc.nat({ max: 2 }) },
};

const NONE: { requiredKeys: []; noNullPrototype: true } = { requiredKeys: [], noNullPrototype: true };

const { schema: SCHEMAS } = fc.letrec(tie => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.record(LEAF, NONE),
    fc.record({ type: TYPES, items: tie('schema') }, NONE),
    fc.record(
      {
        properties: fc.dictionary(NAMES, tie('schema'), { maxKeys: 3, noNullPrototype: true }),
        required: fc.uniqueArray(NAMES, { maxLength: 2 }),
        additionalProperties: fc.boolean(),
      },
      NONE,
    ),
    fc.record({ type: TYPES, ...LIMITS, format: fc.string() }, NONE),
    fc.record({ ...LEAF, multipleOf: fc.constant(1), title: SCALARS, required: fc.array(SCALARS) }, NONE),
  ),
}));

const { value: VALUES } = fc.letrec(tie => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    SCALARS,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(NAMES, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}));

const asJson = (value: unknown) => JSON.parse(JSON.stringify(value));

test('a plain schema has no errors, and ajv decides the same about every value', async () => {
  let plain = 0;
  const property = fc.asyncProperty(SCHEMAS, fc.array(VALUES, { minLength: 1 }), async (made, values) => {
    const schema = asJson(made) as Record<string, unknown>;
    if (!isPlain(schema)) return;
    plain++;
    expect(await checkSchemas([byAjv(schema)])).toEqual([[]]);
    const check = await valueChecker(schema);
    for (const value of values.map(asJson))
      expect(isValid(schema, value)).toBe(check(value).kind === 'valid');
  });
  await fc.assert(property, { numRuns: 150 });
  expect(plain).toBeGreaterThan(50);
});

test.each<[object, boolean]>([
  [{ type: 'object', properties: { a: { type: 'string', description: 'A' } }, required: ['a'] }, true],
  [{ $schema: 'http://json-schema.org/draft-07/schema#', items: { enum: ['a', 1] } }, true],
  [{ $schema: 'https://example.com/own' }, false],
  [{ enum: [] }, false],
  [{ enum: Array.from({ length: 101 }, (_, index) => index) }, false],
  [{ required: ['a', 'a'] }, false],
  [{ properties: { a: true } }, false],
  [{ type: 'string', minLength: 1, maxLength: 2, format: 'date' }, true],
  [{ minimum: 0.5, maximum: 2 }, true],
  [{ maxLength: -1 }, false],
  [{ minimum: '1' }, false],
  [{ pattern: 'a' }, false],
  [Array.from({ length: 30 }).reduce<object>(items => ({ items }), {}), false],
])('%j: plain %s', (schema, expected) => {
  expect(isPlain(schema as Record<string, unknown>)).toBe(expected);
});

test('row 22: a large value takes time in proportion to its size', async () => {
  const names = Array.from({ length: 20_000 }, (_, index) => `p${index}`);
  const properties = Object.fromEntries(names.map(name => [name, { type: 'string' }]));
  const schema = { items: { type: 'object', properties } };
  const start = performance.now();
  expect(await checkValue(schema, Array(200_000).fill({ p1: 'a' }))).toEqual({ kind: 'valid' });
  expect(performance.now() - start).toBeLessThan(2_000);
});
