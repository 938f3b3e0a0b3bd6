import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, test, vi } from 'vitest';
import { checkValue, valueChecker } from '../../src/json-schema/validator.js';
import { LIMITS } from '../../src/util/limits.js';
import { expectCpuBelow } from '../support/cpu-ms.js';

describe('valid and invalid values', () => {
  const schema = {
    type: 'object',
    properties: {
      path: { type: 'string' },
      'x-y': { type: 'array', items: { enum: ['a', 1, null] } },
      lines: { type: 'integer', minimum: 1 },
      fixed: { const: 'so' },
    },
    required: ['path'],
    additionalProperties: false,
  };

  test('a valid value', async () => {
    expect(await checkValue(schema, { path: 'a.txt', lines: 1 })).toEqual({ kind: 'valid' });
  });

  test.each([
    [{}, '$.path', 'is required'],
    [{ path: 1 }, '$.path', 'must be string (type)'],
    [{ path: '', extra: 1 }, '$.extra', 'is not an allowed property'],
    [{ path: '', 'x-y': ['a', 'b'] }, '$["x-y"][1]', 'must be one of "a", 1, null'],
    [{ path: '', lines: 0 }, '$.lines', 'must be >= 1 (minimum)'],
    [{ path: '', fixed: 'other' }, '$.fixed', 'must be "so"'],
  ])('%j violates %s', async (value, path, message) => {
    expect(await checkValue(schema, value)).toEqual({ kind: 'invalid', faults: [{ path, message }] });
  });

  test('reports all errors at once', async () => {
    const check = await checkValue(schema, { lines: 1.5, extra: 1, fixed: 0 });
    expect(check.kind === 'invalid' && check.faults.map(({ path }) => path).sort()).toEqual([
      '$.extra',
      '$.fixed',
      '$.lines',
      '$.path',
    ]);
  });

  test('formats are annotations: they are not checked', async () => {
    expect(await checkValue({ format: 'email' }, 'no one')).toEqual({ kind: 'valid' });
  });

  test('ignores custom keywords', async () => {
    expect(await checkValue({ 'x-vendor': 1, widget: 'slider' }, 3)).toEqual({ kind: 'valid' });
  });
});

describe('each draft has its own keywords', () => {
  test.each([
    ['https://json-schema.org/draft/2020-12/schema', 'prefixItems', 'invalid'],
    ['https://json-schema.org/draft/2019-09/schema', 'items', 'invalid'],
    ['http://json-schema.org/draft-07/schema#', 'items', 'invalid'],
    ['http://json-schema.org/draft-06/schema#', 'items', 'invalid'],
    ['http://json-schema.org/draft-07/schema#', 'prefixItems', 'valid'],
    ['http://json-schema.org/draft-04/schema#', 'items', 'invalid'],
    ['http://json-schema.org/draft-04/schema#', 'prefixItems', 'valid'],
    ['https://example.com/my-own', 'items', 'unusable'],
  ])('%s, a list in %s: %s', async ($schema, keyword, kind) => {
    expect((await checkValue({ $schema, [keyword]: [{ type: 'string' }] }, [1])).kind).toBe(kind);
  });
});

describe('draft-04', () => {
  const $schema = 'http://json-schema.org/draft-04/schema#';
  const schema = {
    $schema,
    id: 'http://example.com/root.json',
    properties: {
      id: { type: 'integer', minimum: 5, exclusiveMinimum: true },
      most: { maximum: 9, exclusiveMaximum: false },
      other: { $ref: '#/definitions/word' },
      fixed: { const: 1 },
    },
    required: ['id'],
    definitions: { word: { enum: ['a', 'b'] } },
    dependencies: { most: ['other'] },
  };

  test.each([
    [{ id: 6, most: 9, other: 'a' }, []],
    [{ id: 5 }, ['$.id: must be > 5 (exclusiveMinimum)']],
    [{}, ['$.id: is required']],
    [{ id: 6, other: 'c' }, ['$.other: must be one of "a", "b"']],
    [{ id: 6, most: 10, other: 'a' }, ['$.most: must be <= 9 (maximum)']],
    [{ id: 6, most: 1 }, ['$: must have property other when property most is present (dependencies)']],
    [{ id: 6, fixed: 'const is unknown in draft-04' }, []],
  ])('%j', async (value, faults) => {
    const check = await checkValue(schema, value);
    const found =
      check.kind === 'invalid' ? check.faults.map(({ path, message }) => `${path}: ${message}`) : [];
    expect([check.kind, found]).toEqual([faults.length > 0 ? 'invalid' : 'valid', faults]);
  });
});

describe('row 22: validation is bounded', () => {
  const items = Array.from({ length: 20_000 }, (_, index) => ({ index }));
  test.each([
    ['a pattern that takes exponential time', { pattern: '^(a|a)*$' }, `${'a'.repeat(40)}b`],
    ['20,000 unique items', { uniqueItems: true }, items],
  ])('%s', async (_, schema, value) => {
    const reason = `validation took longer than ${LIMITS.validateMs.value} ms; a pattern, uniqueItems or a long list in the schema is too costly`;
    await expectCpuBelow(2_000, async () =>
      expect(await checkValue(schema, value)).toEqual({ kind: 'unusable', reason }),
    );
    expect(await checkValue({ type: 'string' }, 'the next one')).toEqual({ kind: 'valid' });
  });
});

test('row 22: compiling is bounded', async () => {
  using _ = vi.spyOn(LIMITS.compileMs, 'value', 'get').mockReturnValue(10);
  const parts = Array.from({ length: 5_000 }, (_, index) => ({ pattern: `^${index}$` }));
  expect(await checkValue({ anyOf: parts }, '4999')).toMatchObject({
    kind: 'unusable',
    reason: expect.stringContaining('took longer than 10 ms'),
  });
});

describe('row 22: errors are bounded', () => {
  test('lists 100 of 100,000 errors, and counts the others', async () => {
    const check = await checkValue({ items: { type: 'string' } }, Array(100_000).fill(1));
    const faults = check.kind === 'invalid' ? check.faults : [];
    expect(faults).toHaveLength(101);
    expect(faults.at(-1)).toEqual({ path: '$', message: 'has 99900 more faults' });
  });

  test('does not quote a long enum or a long value whole', async () => {
    const words = Array.from({ length: 2_000 }, (_, index) => index);
    const check = await checkValue(
      { items: { anyOf: [{ enum: words }, { const: 'x'.repeat(5_000_000) }] } },
      Array(200).fill('none'),
    );
    expect(check.kind).toBe('invalid');
    expect(JSON.stringify(check).length).toBeLessThan(60_000);
  });

  test('ends in time for a long enum and many values', async () => {
    const words = Array.from({ length: 100_000 }, (_, index) => ({ word: `w${index}` }));
    const values = Array.from({ length: 20_000 }, () => ({ word: 'none' }));
    await expectCpuBelow(3_000, () => checkValue({ items: { enum: words } }, values));
  });
});

describe('row 23: $ref', () => {
  test('never fetches a remote one', async () => {
    let connections = 0;
    const server = createServer(() => connections++).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    for (const $ref of [`http://127.0.0.1:${port}/schema.json`, `//127.0.0.1:${port}/schema.json`]) {
      const check = await checkValue({ $ref }, 1);
      expect(check).toMatchObject({ kind: 'unusable', reason: expect.stringContaining($ref) });
    }
    server.close();
    await once(server, 'close');
    expect(connections).toBe(0);
  });

  const ENDLESS = 'its $ref never ends, or refers too deep';

  test('follows a local one; without its target the schema is unusable', async () => {
    expect((await checkValue({ $ref: '#/$defs/none' }, 1)).kind).toBe('unusable');
    expect(await checkValue({ $ref: '#/$defs/a', $defs: { a: { type: 'number' } } }, 1)).toEqual({
      kind: 'valid',
    });
  });

  test.each([
    ['itself', { $ref: '#' }],
    ['each other', { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } } }],
  ])('one to %s is an error, not a stack overflow', async (_, schema) => {
    expect(await checkValue(schema, 1)).toEqual({ kind: 'unusable', reason: ENDLESS });
  });

  test('a long chain of them is followed, or an error', async () => {
    const chain = (length: number) => {
      const links = Array.from({ length }, (_, at) => [`a${at}`, { $ref: `#/$defs/a${at + 1}` }]);
      return { $ref: '#/$defs/a0', $defs: { ...Object.fromEntries(links), [`a${length}`]: { const: 1 } } };
    };
    expect(await checkValue(chain(500), 1)).toEqual({ kind: 'valid' });
    expect(await checkValue(chain(20_000), 1)).toEqual({ kind: 'unusable', reason: ENDLESS });
  });

  const tree = { type: 'object', properties: { next: { $ref: '#' } }, additionalProperties: false };

  test('accepts a recursive schema of a tree', async () => {
    expect(await checkValue(tree, { next: { next: {} } })).toEqual({ kind: 'valid' });
    expect(await checkValue(tree, { next: { next: 1 } })).toMatchObject({ kind: 'invalid' });
  });

  test('a value nested too deeply is an error, not a stack overflow', async () => {
    let value: Record<string, unknown> = {};
    for (let depth = 0; depth < 100_000; depth++) value = { next: value };
    expect((await checkValue(tree, value)).kind).toBe('unusable');
  });
});

describe('row 19: __proto__', () => {
  test('in data and schema changes no prototype', async () => {
    const schema = JSON.parse(
      '{"properties":{"__proto__":{"default":{"polluted":1}}},"default":{"polluted":1}}',
    );
    expect(await checkValue(schema, JSON.parse('{"__proto__":{"polluted":1}}'))).toEqual({ kind: 'valid' });
    expect('polluted' in {}).toBe(false);
  });

  test.each(['constructor', 'toString', 'hasOwnProperty'])(
    'an inherited %s does not count as a property',
    async name => {
      expect((await checkValue({ required: [name] }, {})).kind).toBe('invalid');
    },
  );
});

describe('one schema, many values', () => {
  test('validates each value separately', async () => {
    const check = await valueChecker({ type: 'object', required: ['a'] });
    expect([{ a: 1 }, {}, { a: 2 }].map(value => check(value).kind)).toEqual(['valid', 'invalid', 'valid']);
  });

  test('row 22: limits a costly pattern for each value', async () => {
    const check = await valueChecker({ properties: { a: { pattern: '^(a|a)*$' } } });
    expect(check({ a: `${'a'.repeat(40)}!` }).kind).toBe('unusable');
    expect(check({ a: 'aa' })).toEqual({ kind: 'valid' });
  });

  test('a schema that cannot be compiled is unusable for all values', async () => {
    const check = await valueChecker({ $ref: 'https://example.com/elsewhere' });
    expect([1, 'a'].map(value => check(value).kind)).toEqual(['unusable', 'unusable']);
  });
});
