import { describe, expect, test } from 'vitest';
import { invocationSchema } from '../../src/protocol/read-invocation.js';
import { validate } from '../../src/protocol/validate.js';
import { SEED_INVOCATION } from './seed-messages.js';

const seed: Record<string, unknown> = JSON.parse(SEED_INVOCATION);

function faults(value: unknown): readonly string[] {
  const validation = validate(invocationSchema, value);
  return validation.ok ? [] : validation.faults;
}

test("seed 004's example is an invocation, and comes out as it went in", () => {
  expect(invocationSchema.parse(seed)).toEqual(seed);
});

test('TOOL-EXTRA: unknown fields are ignored', () => {
  expect(invocationSchema.parse({ ...seed, priority: 1 })).toEqual(seed);
});

describe('what may be left out, or null', () => {
  test.each(['call_id', 'thread_ancestors', 'user_id'])('%s', field => {
    const { [field]: _, ...without } = seed;
    expect(faults(without)).toEqual([]);
    expect(faults({ ...seed, [field]: null })).toEqual([]);
  });
});

describe('RT-FIELDS: what is required', () => {
  test.each(['operation', 'arguments', 'id', 'callback_url', 'group_id'])('%s', field => {
    const { [field]: _, ...without } = seed;
    expect(faults(without)).toEqual([`$.${field}: is required`]);
  });

  test('every fault is told, with its path', () => {
    expect(faults({ ...seed, id: 7, arguments: [], thread_ancestors: ['a', 1], user_id: {} })).toEqual([
      '$.arguments: must be an object',
      '$.id: must be a string',
      '$.thread_ancestors[1]: must be a string',
      '$.user_id: must be a string',
    ]);
  });
});

test('row 19: __proto__ among the arguments changes no prototype', () => {
  invocationSchema.parse({ ...seed, arguments: JSON.parse('{"__proto__":{"polluted":1}}') });
  expect('polluted' in {}).toBe(false);
});
