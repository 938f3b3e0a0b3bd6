import { describe, expect, test } from 'vitest';
import { ArgumentMaker, exampleOf } from '../../src/json-schema/example.js';
import { expectCpuBelow } from '../support/cpu-ms.js';

const exampleArguments = async (...about: Parameters<typeof ArgumentMaker.for>) =>
  (await ArgumentMaker.for(...about)).valid();

describe('an example of a schema', () => {
  test.each([
    [{ type: 'string' }, 'example'],
    [{ const: 3 }, 3],
    [{ type: 'string', default: 'main' }, 'main'],
    [{ type: 'string', examples: ['src/main.rs'] }, 'src/main.rs'],
    [{ enum: ['b', 'a'] }, 'b'],
    [{ type: ['null', 'string'] }, null],
    [{ type: 'boolean' }, false],
    [{ type: 'string', format: 'date-time' }, '2025-01-01T12:00:00Z'],
    [{ type: 'string', minLength: 10 }, 'exampleexa'],
    [{ type: 'string', maxLength: 2 }, 'ex'],
    [{ type: 'integer' }, 1],
    [{ type: 'integer', minimum: 5 }, 5],
    [{ type: 'integer', maximum: -5 }, -5],
    [{ type: 'integer', exclusiveMinimum: 5 }, 6],
    [{ type: 'number', exclusiveMaximum: 1 }, 0.5],
    [{ type: 'integer', minimum: 3, multipleOf: 4 }, 4],
    [{ minimum: 2 }, 2],
    [{ type: 'array' }, []],
    [{ type: 'array', minItems: 2, items: { type: 'integer' } }, [1, 1]],
    [{ prefixItems: [{ const: 'a' }], items: { const: 'b' }, minItems: 2 }, ['a', 'b']],
    [{ type: 'object', properties: { a: {}, b: {} }, required: ['b'] }, { b: 'example' }],
    [
      { properties: { a: { properties: { b: { type: 'null' } }, required: ['b'] } }, required: ['a'] },
      { a: { b: null } },
    ],
    [{ oneOf: [{ type: 'integer' }, { type: 'string' }] }, 1],
    [{ anyOf: [{ const: 'x' }] }, 'x'],
    [{ allOf: [{ required: ['a'] }, { properties: { a: { type: 'integer' } } }] }, { a: 1 }],
    [{ $ref: '#/$defs/path', $defs: { path: { const: '/tmp' } } }, '/tmp'],
    [{ $ref: '#/$defs/a~1b', $defs: { 'a/b': { const: 1 } } }, 1],
  ])('%j', (schema, example) => {
    expect(exampleOf(schema)).toEqual(example);
  });

  test('threats, row 23: does not fetch a remote $ref, and ends for a $ref to itself', () => {
    expect(exampleOf({ $ref: 'http://127.0.0.1:9/x.json' })).toBe('example');
    const loop = { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/a' } } };
    expect(exampleOf(loop)).toBe('example');
    const tree = { properties: { child: { $ref: '#' } }, required: ['child'] };
    expect(JSON.stringify(exampleOf(tree)).length).toBeLessThan(1_000);
  });

  test('threats, row 15: does not create values that are too large', () => {
    expect(exampleOf({ type: 'array', minItems: 1e9 })).toHaveLength(100);
    expect(String(exampleOf({ type: 'string', minLength: 1e9 }))).toHaveLength(10_000);
    const thrice = {
      properties: { a: { $ref: '#' }, b: { $ref: '#' }, c: { $ref: '#' } },
      required: ['a', 'b', 'c'],
    };
    expect(JSON.stringify(exampleOf(thrice)).length).toBeLessThan(100_000);
  });

  test('threats, row 19: __proto__ is an ordinary property', () => {
    const schema = JSON.parse(
      '{"properties":{"__proto__":{"const":{"admin":true}}},"required":["__proto__"]}',
    );
    expect(JSON.stringify(exampleOf(schema))).toBe('{"__proto__":{"admin":true}}');
    expect(Object.hasOwn(Object.prototype, 'admin')).toBe(false);
  });
});

describe('example arguments', () => {
  const text = (pattern: string) => ({
    type: 'object',
    properties: { x: { type: 'string', pattern } },
    required: ['x'],
  });

  test.each(['^[A-Z]+$', '^\\d{4}-\\d{2}-\\d{2}$', '^[a-z]+$', '^https?://', '^[\\w.]+@[\\w.]+$', '^/'])(
    'match the pattern %s',
    async pattern => {
      const found = await exampleArguments(text(pattern));
      expect(found.ok && String(found.arguments['x'])).toMatch(new RegExp(pattern));
    },
  );

  test.each([
    [text('^qqq-\\d{9}$'), /^\$\.x: must match pattern/],
    [{ type: 'object', minProperties: 1 }, /^\$: must NOT have fewer than 1 properties/],
    [{ type: 'array' }, /./],
    [{ $ref: 'http://127.0.0.1:9/x.json' }, /./],
  ])('cannot be made for %j, with the reason', async (schema, reason) => {
    expect(await exampleArguments(schema)).toEqual({ ok: false, reason: expect.stringMatching(reason) });
  });
});

describe('threats, row 22: schemas whose parts multiply', () => {
  const nested = (depth: number) => {
    let items: object = { type: 'string' };
    for (let level = 0; level < depth; level++) items = { type: 'array', minItems: 100, items };
    return { type: 'object', properties: { a: items }, required: ['a'] };
  };
  const composed = (levels: number, each: number) => {
    const part = (level: number) => ({
      allOf: Array.from({ length: each }, () => ({ $ref: `#/$defs/${level + 1}` })),
    });
    const $defs = Object.fromEntries(Array.from({ length: levels }, (_, level) => [level, part(level)]));
    return { properties: { a: { $ref: '#/$defs/0' } }, required: ['a'], $defs };
  };
  const names = Array.from({ length: 1_000 }, (_, index) => `p${index}`);
  const withDefault = {
    properties: Object.fromEntries(names.map(name => [name, { $ref: '#/$defs/long' }])),
    required: names,
    $defs: { long: { type: 'string', default: 'x'.repeat(1_000_000) } },
  };

  test.each([
    ['arrays of 100 in arrays of 100, 6 deep', nested(6)],
    ['arrays of 100 in arrays of 100, 60 deep', nested(60)],
    ['40 parts, nested 8 deep', composed(8, 40)],
    [
      'a thousand required properties with the whole schema each',
      { properties: Object.fromEntries(names.map(name => [name, { $ref: '#' }])), required: names },
    ],
    ['a thousand defaults of a megabyte', withDefault],
  ])('%s', async (_, schema) => {
    await expectCpuBelow(2_000, async () =>
      expect(await exampleArguments(schema)).toEqual({ ok: false, reason: 'it demands too many values' }),
    );
  });
});

test('makes one attempt even if loading the validator took all the time', async () => {
  expect(await exampleArguments({ type: 'object' }, () => true)).toEqual({ ok: true, arguments: {} });
});
