import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkSchemas, checkValue, valueChecker } from '../../src/json-schema/validator.js';
import { expectCpuBelow } from '../support/cpu-ms.js';

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

test('ajv decides the same about every schema and every value', async () => {
  let sound = 0;
  const property = fc.asyncProperty(SCHEMAS, fc.array(VALUES, { minLength: 1 }), async (made, values) => {
    const schema = asJson(made) as Record<string, unknown>;
    const [faults, others] = await checkSchemas([schema, byAjv(schema)]);
    expect(faults?.length).toBe(others?.length);
    if (faults?.length !== 0) return;
    sound++;
    const [check, other] = [await valueChecker(schema), await valueChecker(byAjv(schema))];
    for (const value of values.map(asJson)) expect(check(value)).toEqual(other(value));
  });
  await fc.assert(property, { numRuns: 100 });
  expect(sound).toBeGreaterThan(30);
});

test.each<object>([
  { $schema: 'http://json-schema.org/draft-07/schema#', enum: [] },
  { required: ['a', 'a'] },
  { maxLength: -1 },
  { minimum: '1' },
])('%j has an error', async schema => {
  expect(await checkSchemas([schema as Record<string, unknown>])).not.toEqual([[]]);
});

test('row 22: a large value takes time in proportion to its size', async () => {
  const names = Array.from({ length: 20_000 }, (_, index) => `p${index}`);
  const properties = Object.fromEntries(names.map(name => [name, { type: 'string' }]));
  const schema = { items: { type: 'object', properties } };
  await expectCpuBelow(2_000, async () =>
    expect(await checkValue(schema, Array(200_000).fill({ p1: 'a' }))).toEqual({ kind: 'valid' }),
  );
});
