import fc from 'fast-check';
import { expect, test } from 'vitest';
import { RecentMap } from '../../src/util/collections.js';

test('it holds the latest, at least so many and at most twice as many', () => {
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

test('what is deleted or cleared is gone, of either generation', () => {
  const map = new RecentMap<string, number>(2);
  for (const [index, key] of ['a', 'b', 'c'].entries()) map.set(key, index);
  map.delete('a');
  expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([undefined, 1, 2]);
  map.clear();
  expect([map.get('b'), map.get('c')]).toEqual([undefined, undefined]);
});

test('its values are the latest of each key, those of the elder generation first', () => {
  const map = new RecentMap<string, number>(3);
  for (const [index, key] of ['a', 'b', 'c', 'a', 'd'].entries()) map.set(key, index);
  expect([...map.values()]).toEqual([1, 2, 3, 4]);
  map.delete('a');
  expect([...map.values()]).toEqual([1, 2, 4]);
});
