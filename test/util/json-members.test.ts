import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonParts, withStringMember } from '../../src/util/json-format.js';

describe('a part of a JSON text is found by its path', () => {
  test.each<[string, readonly PropertyKey[], string | null]>([
    ['{"a": 1.0, "b":{"c":[1,2]} }', ['b', 'c'], '[1,2]'],
    ['[12345678901234567890 , "x,]", {}]', [0], '12345678901234567890'],
    ['[12345678901234567890 , "x,]", {}]', [1], '"x,]"'],
    ['{"\\u0061":1,"a":2}', ['a'], '2'],
    ['{}', ['a'], null],
    ['"text"', ['0'], null],
  ])('%s %j', (text, path, part) => {
    expect(jsonParts(text)(path)).toBe(part);
  });

  test('as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(0, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const part = jsonParts(text);
        for (const [key, member] of Object.entries(value))
          expect(JSON.parse(part([key]) ?? '')).toEqual(JSON.parse(JSON.stringify(member)));
      }),
    );
  });
});

test('a part is found by its path', () => {
  const part = jsonParts('{"calls":[{"result":1e2},{"result": 1.50 }]}');
  expect(part(['calls', 0, 'result'])).toBe('1e2');
  expect(part(['calls', 1, 'result'])).toBe('1.50');
  expect(part(['calls', 2, 'result'])).toBeNull();
  expect(part(['calls', 0, 'result', 'x'])).toBeNull();
  expect(part([])).toBe('{"calls":[{"result":1e2},{"result": 1.50 }]}');
});

describe('a JSON text with another string in it', () => {
  test.each([
    ['{"a": "x", "b":1.0 }', '{"a": "new \\"one", "b":1.0 }'],
    ['\uFEFF { "a" :"x"}', '\uFEFF { "a" :"new \\"one"}'],
    ['{"a":"1","a":"2"}', '{"a":"1","a":"new \\"one"}'],
    ['{"\\u0061":"x\\\\"}', '{"\\u0061":"new \\"one"}'],
    ['{"b":{"a":"x"},"c":["a"]}', '{"b":{"a":"x"},"c":["a"]}'],
    ['{}', '{}'],
  ])('%s', (text, changed) => {
    expect(withStringMember(text, 'a', 'new "one')).toBe(changed);
  });
});
