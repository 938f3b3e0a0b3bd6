import { expect, test } from 'vitest';
import { jsonSketch } from '../../src/util/json-format.js';

test.each<[string, unknown, string]>([
  ['short JSON as it is', { a: [1, 'b', null, true], c: {} }, '{"a":[1, "b", null, true], "c":{}}'],
  ['a long text cut', { a: 'x'.repeat(100) }, `{"a":"${'x'.repeat(32)}…"}`],
  ['a long list counted', [1, 2, 3, 4, 5, 6], '[1, 2, 3, 4, … 2 more]'],
  ['what is deep is a sign', { a: { b: { c: { d: 1 } } } }, '{"a":{"b":{"c":{…}}}}'],
  ['an empty object, however deep', { a: { b: { c: {} } } }, '{"a":{"b":{"c":{}}}}'],
])('%s', (_, value, sketch) => {
  expect(jsonSketch(value)).toBe(sketch);
});
