import { expect, test } from 'vitest';
import { compactJson } from '../../src/util/values.js';

test('JSON without blanks', () => {
  expect(compactJson({ a: [1, 'x', null] })).toBe('{"a":[1,"x",null]}');
  expect(compactJson('a')).toBe('"a"');
});

test('null for what is not one', () => {
  const cycle: unknown[] = [];
  cycle.push(cycle);
  for (const none of [cycle, 1n, undefined, () => 1]) expect(compactJson(none)).toBeNull();
});
