import { describe, expect, test } from 'vitest';
import { checkSchemas } from '../../src/json-schema/validator.js';
import { expectCpuBelow } from '../support/cpu-ms.js';

const checkSchema = async (schema: Readonly<Record<string, unknown>>) =>
  (await checkSchemas([schema]))[0] ?? [];

const DRAFT = {
  '2020-12': 'https://json-schema.org/draft/2020-12/schema',
  '2019-09': 'https://json-schema.org/draft/2019-09/schema',
  'draft-07': 'http://json-schema.org/draft-07/schema#',
  'draft-06': 'http://json-schema.org/draft-06/schema#',
  'draft-04': 'http://json-schema.org/draft-04/schema#',
};
const BROKEN = { properties: { 'a/b~c': { type: 'strnig' }, n: { minLength: -1 } }, required: 'path' };

describe.each(Object.entries(DRAFT))('%s', (_, $schema) => {
  test('a valid schema has no errors', async () => {
    const schema = {
      $schema,
      type: 'object',
      properties: { a: { type: ['string', 'null'] } },
      required: ['a'],
    };
    expect(await checkSchema(schema)).toEqual([]);
  });

  test('every error has its path and its rule', async () => {
    const faults = await checkSchema({ $schema, ...BROKEN });
    const paths = new Set(faults.map(({ path }) => path));
    expect(paths).toContain('$.properties["a/b~c"].type');
    expect(paths).toContain('$.properties.n.minLength');
    expect(paths).toContain('$.required');
    expect(faults).toContainEqual({ path: '$.properties.n.minLength', message: 'must be >= 0 (minimum)' });
    expect(faults).toContainEqual({ path: '$.required', message: 'must be array (type)' });
  });
});

test('without $schema, the draft is 2020-12', async () => {
  expect(await checkSchema({ $dynamicAnchor: 'a', prefixItems: [{}] })).toEqual([]);
  expect(await checkSchema({ prefixItems: {} })).toHaveLength(1);
});

test('the trailing # of an id is optional', async () => {
  expect(await checkSchema({ $schema: 'http://json-schema.org/draft-07/schema' })).toEqual([]);
  expect(await checkSchema({ $schema: `${DRAFT['2020-12']}#` })).toEqual([]);
});

test('the https URL of draft-07 is draft-07', async () => {
  const $schema = 'https://json-schema.org/draft-07/schema#';
  expect(await checkSchema({ $schema, type: 'object' })).toEqual([]);
});

describe('an unknown draft', () => {
  test.each(['https://example.com/my-own', 'constructor', '__proto__', 'toString', ''])(
    '%j is not an error: its schemas are not checked',
    async $schema => expect(await checkSchema({ $schema, type: 7 })).toEqual([]),
  );

  test.each([7, null, {}])('%j is an error: it is not a string', async $schema => {
    expect(await checkSchema({ $schema })).toEqual([
      {
        path: '$["$schema"]',
        message: `names the draft ${String($schema)}; supported drafts: 2020-12, 2019-09, draft-07, draft-06, draft-04`,
      },
    ]);
  });
});

test('draft-04: an exclusive bound is a boolean, or a number as in later drafts', async () => {
  const $schema = DRAFT['draft-04'];
  expect(await checkSchema({ $schema, minimum: 1, exclusiveMinimum: true })).toEqual([]);
  expect(await checkSchema({ $schema, exclusiveMaximum: 5 })).toEqual([]);
  expect(await checkSchema({ $schema, exclusiveMaximum: 'a' })).toHaveLength(1);
});

describe('row 22: checks are bounded', () => {
  const types = Array.from({ length: 20_000 }, (_, index) => `type${index}`);
  test.each([DRAFT['2020-12'], DRAFT['draft-04']])('%s with 20,000 types', async $schema => {
    await expectCpuBelow(1_000, async () =>
      expect(await checkSchema({ $schema, type: types })).not.toEqual([]),
    );
  });
});

test('row 23: a schema nested too deeply is an error, not a stack overflow', async () => {
  let schema: Record<string, unknown> = {};
  for (let depth = 0; depth < 50_000; depth++) schema = { not: schema };
  expect(await checkSchema(schema)).toHaveLength(1);
});

test('row 19: __proto__ in a schema changes nothing', async () => {
  const schema = JSON.parse('{"__proto__":{"polluted":1},"properties":{"__proto__":{"type":"string"}}}');
  expect(await checkSchema(schema)).toEqual([]);
  expect('polluted' in {}).toBe(false);
});

test('several schemas: each has its own errors, in any draft', async () => {
  const draft07 = { $schema: DRAFT['draft-07'], items: 7 };
  const faults = await checkSchemas([{}, { type: 7 }, draft07, { $schema: 'other' }]);
  expect(faults.map(each => each.map(({ path }) => path)[0])).toEqual([
    undefined,
    '$.type',
    '$.items',
    undefined,
  ]);
  expect(await checkSchemas([])).toEqual([]);
});
