import { describe, expect, test } from 'vitest';
import { readInvocation } from '../../src/protocol/read-invocation.js';
import { readJson } from '../../src/util/json.js';

const whole = {
  operation: 'op',
  arguments: {},
  id: 'i',
  callback_url: 'http://127.0.0.1/back',
  group_id: 'g',
};
const read = (source: string | object) =>
  readInvocation(readJson(Buffer.from(typeof source === 'string' ? source : JSON.stringify(source))));

describe('an invocation', () => {
  test.each([whole, { ...whole, call_id: null, user_id: 'u', thread_ancestors: ['r'] }])('%j', invocation => {
    expect(read(invocation)).toEqual({ ok: true, invocation, notes: [] });
  });

  test('TOOL-EXTRA, row 19: unknown fields are left out', () => {
    const source = JSON.stringify(whole).replace('{', '{"__proto__":{"polluted":true},"more":1,');
    expect(read(source)).toMatchObject({ ok: true, invocation: whole });
    expect(Object.hasOwn(read(source), 'more')).toBe(false);
    expect(Reflect.get(Object.prototype, 'polluted')).toBeUndefined();
  });

  test('row 20: what is odd about its JSON is noted', () => {
    expect(read(JSON.stringify(whole).replace('{', '{"id":"j",'))).toMatchObject({
      ok: true,
      notes: [expect.stringContaining('"id"')],
    });
  });
});

describe('TOOL-MALFORMED: who can still be told', () => {
  const addressee = { callback_url: whole.callback_url, group_id: 'g', id: 'i' };

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
    [{ callback_url: 7 }, null],
    [{ callback_url: ['http://127.0.0.1/'] }, null],
  ])('%j', (fields, who) => {
    expect(read({ ...whole, ...fields })).toEqual({ ok: false, faults: expect.any(Array), addressee: who });
  });

  test.each(['', '{', 'null', '[]', '"text"', '7'])('%j: nobody', source => {
    const reading = read(source);
    expect(reading).toMatchObject({ ok: false, addressee: null });
    expect(reading.ok || reading.faults.length).toBeGreaterThan(0);
  });
});
