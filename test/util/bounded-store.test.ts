import fc from 'fast-check';
import { expect, test } from 'vitest';
import { BoundedStore } from '../../src/util/collections.js';

test('keeps the latest entries within both limits, in the order they were added', () => {
  const steps = fc.array(fc.record({ key: fc.nat(9), size: fc.nat(40) }), { maxLength: 100 });
  fc.assert(
    fc.property(steps, fc.integer({ min: 1, max: 8 }), (sets, count) => {
      const store = new BoundedStore<number, number>({ count, size: 100 });
      let expected: { key: number; size: number }[] = [];
      for (const { key, size } of sets) {
        store.set(key, key, size);
        const at = expected.findIndex(each => each.key === key);
        expected = at < 0 ? [...expected, { key, size }] : expected.with(at, { key, size });
        const total = () => expected.reduce((sum, each) => sum + each.size, 0);
        while (expected.length > 1 && (expected.length > count || total() > 100)) expected.shift();
        expect(store.values()).toEqual(expected.map(each => each.key));
      }
    }),
  );
});

test('counts dropped entries until it is cleared, however many there are', () => {
  const store = new BoundedStore<number, string>({ count: 3, size: 100 });
  for (let key = 0; key < 10_000; key++) store.set(key, `${key}`, 1);
  expect([store.values(), store.dropped]).toEqual([['9997', '9998', '9999'], 9_997]);
  store.clear();
  store.set(1, 'a', 100);
  expect([store.values(), store.dropped]).toEqual([['a'], 0]);
});
