import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BoundedStore, lastIndexUpTo, memoizeByString, RecentMap } from '../../src/util/collections.js';

describe('BoundedStore', () => {
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

  test('reports dropped entries in their order, however many there are', () => {
    const dropped: string[] = [];
    const store = new BoundedStore<number, string>({ count: 3, size: 100 }, value => dropped.push(value));
    for (let key = 0; key < 10_000; key++) store.set(key, `${key}`, 1);
    expect(store.values()).toEqual(['9997', '9998', '9999']);
    expect(dropped).toEqual(Array.from({ length: 9_997 }, (_, key) => `${key}`));
  });
});

describe('RecentMap', () => {
  test('keeps the latest entries: at least the limit, at most twice as many', () => {
    const steps = fc.array(fc.nat(20), { maxLength: 200 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), steps, (count, keys) => {
        const map = new RecentMap<number, number>(count);
        for (const [index, key] of keys.entries()) map.set(key, index);
        const latest = [...new Set(keys.toReversed())];
        for (const key of latest.slice(0, count - 1)) expect(map.get(key)).toBe(keys.lastIndexOf(key));
        const held = [...new Set(keys)].filter(key => map.get(key) !== undefined);
        expect(held.length).toBeLessThanOrEqual(2 * count);
        for (const key of held) expect(map.get(key)).toBe(keys.lastIndexOf(key));
      }),
    );
  });

  test('deleted or cleared entries are gone from both generations', () => {
    const map = new RecentMap<string, number>(2);
    for (const [index, key] of ['a', 'b', 'c'].entries()) map.set(key, index);
    map.delete('a');
    expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([undefined, 1, 2]);
    map.clear();
    expect([map.get('b'), map.get('c')]).toEqual([undefined, undefined]);
  });

  test('values() returns the latest of each key, older generation first', () => {
    const map = new RecentMap<string, number>(3);
    for (const [index, key] of ['a', 'b', 'c', 'a', 'd'].entries()) map.set(key, index);
    expect([...map.values()]).toEqual([1, 2, 3, 4]);
    map.delete('a');
    expect([...map.values()]).toEqual([1, 2, 4]);
  });
});

describe('lastUpTo', () => {
  test('returns the last that is not above the value', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 20 })),
        fc.integer({ min: -1, max: 21 }),
        (numbers, value) => {
          const ascending = numbers.toSorted((a, b) => a - b);
          expect(lastIndexUpTo(ascending, value)).toBe(ascending.findLastIndex(number => number <= value));
        },
      ),
    );
  });
});

test('a cached function computes each short word once, also null; its memory is limited', () => {
  const asked: string[] = [];
  const lengthOf = memoizeByString(word => {
    asked.push(word);
    return word === '' ? null : word.length;
  });
  expect([lengthOf('one'), lengthOf('three'), lengthOf('one'), lengthOf(''), lengthOf('')]).toEqual([
    3,
    5,
    3,
    null,
    null,
  ]);
  expect(asked).toEqual(['one', 'three', '']);
  const long = 'x'.repeat(257);
  expect([lengthOf(long), lengthOf(long), asked.length]).toEqual([257, 257, 5]);
  for (let index = 0; index <= 2_000; index++) lengthOf(`word ${index}`);
  lengthOf('word 2000');
  lengthOf('word 0');
  expect(asked).toHaveLength(2_007);
});
