import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonSketch } from '../../src/render/check-evidence.js';
import { inLayout, jsonParts, prettyJson, withStringMember } from '../../src/util/json.js';

const container = fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue()));

test('is equivalent to the source, and formatted like JSON.stringify with two spaces', () => {
  fc.assert(
    fc.property(container, value => {
      const source = JSON.stringify(value);
      const pretty = prettyJson(source) ?? '';
      expect(JSON.parse(pretty)).toEqual(JSON.parse(source));
      expect(pretty).toBe(JSON.stringify(JSON.parse(source), null, 2));
    }),
  );
});

test('whitespace of the source has no effect', () => {
  fc.assert(
    fc.property(container, fc.constantFrom(1, 3, '\t', ' \n'), (value, indent) => {
      expect(prettyJson(JSON.stringify(value, null, indent))).toBe(prettyJson(JSON.stringify(value)));
    }),
  );
});

describe('row 20: tokens stay as written', () => {
  test.each([
    ['{"n":9007199254740993}', '{\n  "n": 9007199254740993\n}'],
    ['[1e400,-0,1.50]', '[\n  1e400,\n  -0,\n  1.50\n]'],
    ['["\\u0041\\/","\\ud83d"]', '[\n  "\\u0041\\/",\n  "\\ud83d"\n]'],
    ['{"a":1,"a":2}', '{\n  "a": 1,\n  "a": 2\n}'],
    ['{"a":{},"b":[]}', '{\n  "a": {},\n  "b": []\n}'],
  ])('%s', (source, pretty) => {
    expect(prettyJson(source)).toBe(pretty);
  });
});

test.each(['', '42', '"text"', 'null', 'plain text', '{not json}', '{"a":1} and more', '[1,]'])(
  '%j is not a JSON object or array',
  text => {
    expect(prettyJson(text)).toBeNull();
  },
);

test('a text of more than a million characters is not formatted', () => {
  expect(prettyJson(`["${'a'.repeat(999_990)}"]`)).not.toBeNull();
  expect(prettyJson(`["${'a'.repeat(1_000_000)}"]`)).toBeNull();
});

test('row 18: deeply nested input is not formatted, because its indents would fill the memory', () => {
  expect(prettyJson(`${'['.repeat(128)}${']'.repeat(128)}`)).not.toBeNull();
  expect(prettyJson(`${'['.repeat(2_000)}${']'.repeat(2_000)}`)).toBeNull();
});

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

  test('like JSON.parse', () => {
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

describe('replacing a string in a JSON text', () => {
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

const LAYOUT =
  '{ "type":"tool_result",\n "text": "caf\\u00e9 {{", "n": 1.0, "id" : "old", "list": [ {"id":"old"}, null ] }';

test('only changed values are written anew; missing members are not added', () => {
  const value = {
    id: 'new',
    call_id: null,
    type: 'tool_result',
    text: 'café {{',
    n: 1,
    list: [{ id: 'new' }, null],
  };
  expect(inLayout(LAYOUT, value)).toBe(LAYOUT.replaceAll('"old"', '"new"'));
});

test.each([
  ['another shape', '{"a":[1]}', { a: 'x' }, '{"a":"x"}'],
  ['an object instead of a list', '{"a":[1]}', { a: { b: 1 } }, '{"a":{"b":1}}'],
  ['invalid JSON', '{"a":', { a: 1 }, '{"a":1}'],
  ['a missing member', '{"a":1,"b":2}', { b: 2 }, '{"a":null,"b":2}'],
])('%s', (_, layout, value, json) => {
  expect(inLayout(layout, value)).toBe(json);
});

test.each<[string, unknown, string]>([
  ['short JSON unchanged', { a: [1, 'b', null, true], c: {} }, '{"a":[1, "b", null, true], "c":{}}'],
  ['a long text cut', { a: 'x'.repeat(100) }, `{"a":"${'x'.repeat(32)}…"}`],
  ['a long list counted', [1, 2, 3, 4, 5, 6], '[1, 2, 3, 4, … 2 more]'],
  ['deep values as a placeholder', { a: { b: { c: { d: 1 } } } }, '{"a":{"b":{"c":{…}}}}'],
  ['an empty object at any depth', { a: { b: { c: {} } } }, '{"a":{"b":{"c":{}}}}'],
])('%s', (_, value, sketch) => {
  expect(jsonSketch(value)).toBe(sketch);
});
