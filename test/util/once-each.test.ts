import { expect, test } from 'vitest';
import { onceEach } from '../../src/util/collections.js';

test('is made once for each value, nothing included', () => {
  const made: object[] = [];
  const make = onceEach((key: { readonly gives: number | undefined }) => {
    made.push(key);
    return key.gives;
  });
  const [one, none] = [{ gives: 1 }, { gives: undefined }];
  expect([make(one), make(none), make(one), make(none), make({ gives: 1 })]).toEqual([
    1,
    undefined,
    1,
    undefined,
    1,
  ]);
  expect(made).toHaveLength(3);
});
