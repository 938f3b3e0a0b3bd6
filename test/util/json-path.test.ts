import { expect, test } from 'vitest';
import { jsonPath, pointerToPath } from '../../src/util/values.js';

test.each([
  [[], '$'],
  [['tools', 0, 'name'], '$.tools[0].name'],
  [['x-y'], '$["x-y"]'],
  [['a.b', '$ref', '_1', ''], '$["a.b"].$ref._1[""]'],
  [['quote"'], '$["quote\\""]'],
  [['__proto__'], '$.__proto__'],
])('%j is %s', (path, text) => {
  expect(jsonPath(path)).toBe(text);
});

test.each([
  ['', '$'],
  ['/tools/0/name', '$.tools[0].name'],
  ['/a~1b/c~0d', '$["a/b"]["c~d"]'],
  ['/~01', '$["~1"]'],
  ['/', '$[""]'],
])('the pointer %j is %s', (pointer, text) => {
  expect(pointerToPath(pointer)).toBe(text);
});
