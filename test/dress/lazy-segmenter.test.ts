import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LazySegmenter } from '../../src/render/terminal/lazy-segmenter.js';
import { CHARACTERS } from './support/characters.js';

const lazy = new LazySegmenter();
const real = new Intl.Segmenter();

/** From here on neighbours are alike. */
const IDEOGRAPHS = 0x3400;

const isSame = (text: string) => isDeepStrictEqual([...lazy.segment(text)], [...real.segment(text)]);

test('which one a place belongs to, it says as the real one does', () => {
  const says = (segmenter: LazySegmenter | Intl.Segmenter) =>
    ['ab', 'e\u0301', ''].flatMap(text => {
      const segments = segmenter.segment(text);
      return [segments.containing(), ...[-1, 0, 1, 2].map(index => segments.containing(index))];
    });
  expect(says(lazy)).toEqual(says(real));
});

test('a text has the clusters that the real one finds, whatever stands beside what', () => {
  const parts = fc.constantFrom(...CHARACTERS, '\r', '\n', '\r\n');
  const texts = fc.array(parts, { maxLength: 12 }).map(each => each.join(''));
  fc.assert(fc.property(texts, isSame), { numRuns: 2_000 });
});

test('no character that passes for a cluster of its own makes one with its neighbours', () => {
  const other: string[] = [];
  for (let code = 0; code <= 0xffff; code += code < IDEOGRAPHS ? 1 : 61) {
    const character = String.fromCharCode(code);
    if (!isSame(`a${character}${character}か`)) other.push(code.toString(16));
  }
  expect(other).toEqual([]);
});

test('a text of several slices has the clusters that the real one finds; a longer cluster is taken apart', () => {
  const text = `${'a👩\u200d👧e\u0301🇦🇧'.repeat(300)}z`;
  expect(isSame(text)).toBe(true);
  expect(lazy.segment(text).containing(2_345)).toEqual(real.segment(text).containing(2_345));
  const long = `e${'\u0301'.repeat(2_500)}`;
  expect([...lazy.segment(long)].map(({ segment }) => segment).join('')).toBe(long);
});

test('takes time in proportion to a text of flags', () => {
  const flags = '🇦'.repeat(250_000);
  const start = performance.now();
  expect([...lazy.segment(flags)]).toHaveLength(125_000);
  expect(performance.now() - start).toBeLessThan(5_000);
});
