import { describe, expect, test } from 'vitest';
import { readInvocation } from '../../src/protocol/invocation.js';
import { readJson } from '../../src/util/json.js';
import { SEED_INVOCATION } from './seed-messages.js';

const seed: Record<string, unknown> = JSON.parse(SEED_INVOCATION);

const read = (source: string | object) =>
  readInvocation(readJson(Buffer.from(typeof source === 'string' ? source : JSON.stringify(source))));

const faultsOf = (value: object) => {
  const reading = read(value);
  return reading.ok ? [] : reading.faults;
};

describe('an invocation', () => {
  test("returns seed 004's example unchanged", () => {
    expect(read(SEED_INVOCATION)).toEqual({ ok: true, invocation: seed, notes: [] });
  });

  test.each(['call_id', 'thread_ancestors', 'user_id'])('%s may be absent or null', field => {
    expect(faultsOf({ ...seed, [field]: undefined })).toEqual([]);
    expect(faultsOf({ ...seed, [field]: null })).toEqual([]);
  });

  test.each(['operation', 'arguments', 'id', 'callback_url', 'group_id'])(
    'RT-FIELDS: %s is required',
    field => {
      expect(faultsOf({ ...seed, [field]: undefined })).toEqual([`$.${field}: is required`]);
    },
  );

  test('RT-FIELDS: every error has its path', () => {
    expect(faultsOf({ ...seed, id: 7, arguments: [], thread_ancestors: ['a', 1], user_id: {} })).toEqual([
      '$.arguments: must be an object',
      '$.id: must be a string',
      '$.thread_ancestors[1]: must be a string',
      '$.user_id: must be a string',
    ]);
  });

  test('TOOL-EXTRA, row 19: drops unknown fields, and __proto__ changes no prototype', () => {
    const polluting = '"__proto__":{"polluted":true}';
    const source = SEED_INVOCATION.replace('{', `{${polluting},"more":1,`).replace(
      '"owner"',
      `${polluting},"owner"`,
    );
    const reading = read(source);
    expect(reading.ok && Object.keys(reading.invocation).sort()).toEqual(Object.keys(seed).sort());
    expect('polluted' in {}).toBe(false);
  });

  test('row 20: has notes about unusual JSON', () => {
    expect(read(SEED_INVOCATION.replace('{', '{"id":"j",'))).toMatchObject({
      ok: true,
      notes: [expect.stringContaining('"id"')],
    });
  });
});

describe('TOOL-MALFORMED: the address for the error result', () => {
  const { callback_url, group_id, id } = seed;
  const addressee = { callback_url, group_id, id };

  test.each<[object, object | null]>([
    [{ operation: 7 }, addressee],
    [
      { arguments: [], call_id: 'c' },
      { ...addressee, call_id: 'c' },
    ],
    [{ operation: '', call_id: 7 }, addressee],
    [
      { id: 7, group_id: 8 },
      { ...addressee, id: '7', group_id: '8' },
    ],
    [
      { id: { toString: 'x' }, group_id: null },
      { ...addressee, id: '', group_id: '' },
    ],
    [{ callback_url: undefined }, null],
    [{ callback_url: '' }, null],
    [{ callback_url: ['http://127.0.0.1/'] }, null],
  ])('%j', (fields, address) => {
    expect(read({ ...seed, ...fields })).toEqual({
      ok: false,
      faults: expect.any(Array),
      addressee: address,
    });
  });

  test.each(['', '{', 'null', '[]', '"text"', '7'])('%j has no address', source => {
    const reading = read(source);
    expect(reading).toMatchObject({ ok: false, addressee: null });
    expect(reading.ok || reading.faults.length).toBeGreaterThan(0);
  });
});
