import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { prettyJson } from '../../src/util/json-format.js';

const container = fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue()));

test('means the same as the source, and looks like JSON.stringify with two spaces', () => {
  fc.assert(
    fc.property(container, value => {
      const source = JSON.stringify(value);
      const pretty = prettyJson(source) ?? '';
      expect(JSON.parse(pretty)).toEqual(JSON.parse(source));
      expect(pretty).toBe(JSON.stringify(JSON.parse(source), null, 2));
    }),
  );
});

test('the blanks of the source do not count', () => {
  fc.assert(
    fc.property(container, fc.constantFrom(1, 3, '\t', ' \n'), (value, indent) => {
      expect(prettyJson(JSON.stringify(value, null, indent))).toBe(prettyJson(JSON.stringify(value)));
    }),
  );
});

describe('row 20: tokens stay as they were written', () => {
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
  '%j is not JSON object or array',
  text => {
    expect(prettyJson(text)).toBeNull();
  },
);

test('a text of more than a million characters is left alone', () => {
  expect(prettyJson(`["${'a'.repeat(999_990)}"]`)).not.toBeNull();
  expect(prettyJson(`["${'a'.repeat(1_000_000)}"]`)).toBeNull();
});

test('row 18: what is nested deeper than anybody means is left alone: its indents would fill the memory', () => {
  expect(prettyJson(`${'['.repeat(128)}${']'.repeat(128)}`)).not.toBeNull();
  expect(prettyJson(`${'['.repeat(2_000)}${']'.repeat(2_000)}`)).toBeNull();
});
