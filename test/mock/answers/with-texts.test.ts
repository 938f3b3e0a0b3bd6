import { expect, test } from 'vitest';
import { withTexts } from '../../../src/mock/answer-calls.js';

test('texts change, and nothing else', () => {
  const tree = { a: 'x', list: ['y', 1, null, { b: true }], n: 0 };
  expect(withTexts(tree, text => `<${text}>`)).toEqual({
    a: '<x>',
    list: ['<y>', 1, null, { b: true }],
    n: 0,
  });
  expect(tree.a).toBe('x');
  expect([withTexts('x', text => `${text}!`), withTexts(undefined, String)]).toEqual(['x!', undefined]);
});

test('row 19: a key __proto__ is a key like any other', () => {
  const tree = withTexts(JSON.parse('{"__proto__":{"polluted":"x"}}'), text => text);
  expect(Object.keys(tree)).toEqual(['__proto__']);
  expect(Reflect.get(Object.prototype, 'polluted')).toBeUndefined();
});
