import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exactJson } from '../../src/util/exact-json.js';
import { parseJson } from '../../src/util/json.js';

function parsed(text: string): unknown {
  const reading = parseJson(text);
  if (!reading.ok) throw new Error(reading.reason);
  return reading.value;
}

test.each([
  '{"n":9007199254740993}',
  '[1,[9007199254740993,{"a":"x","b":-12345678901234567890}],2]',
  '{"a":{"b":1e999},"c":"\\"MARK"}',
  '[{"n":9007199254740993},{"n":9007199254740992}]',
])('a number that cannot be held is written as it came: %s', text => {
  expect(exactJson(parsed(text))).toBe(text);
});

test('also in a copy of what contains its object, and at another place', () => {
  const value = parsed('{"a":{"n":9007199254740993}}') as { a: object };
  expect(exactJson({ ...value, more: [value.a] })).toBe(
    '{"a":{"n":9007199254740993},"more":[{"n":9007199254740993}]}',
  );
});

test('of a repeated key, the last number is written', () => {
  expect(exactJson(parsed('{"n":9007199254740993,"n":1,"m":9007199254740993}'))).toBe(
    '{"n":1,"m":9007199254740993}',
  );
});

test('everything else is written as JSON.stringify does', () => {
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      expect(exactJson(value, { indent: 2 })).toBe(JSON.stringify(value, null, 2));
    }),
  );
});
