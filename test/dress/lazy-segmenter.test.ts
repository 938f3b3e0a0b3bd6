import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { quote } from '../../src/render/line.js';
import { cellsOf } from '../../src/render/terminal/cells.js';
import { LazySegmenter } from '../../src/render/terminal/lazy-segmenter.js';
import { createTheme, wrapLine } from '../../src/render/terminal/theme.js';
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

const MARK = '\u0301';

test.each([
  ['marks', `e${MARK.repeat(1_000_000)}`],
  ['joined people', '👩\u200d'.repeat(333_334)],
  ['flags', '🇦🇧'.repeat(250_000)],
])('1,000,000 characters of %s are measured in time', (_, text) => {
  const start = performance.now();
  expect(cellsOf(text)).toBeGreaterThan(0);
  expect(performance.now() - start).toBeLessThan(3_000);
});

test('1,000,000 marks on one letter are wrapped in time', () => {
  const text = `e${MARK.repeat(1_000_000)}`;
  const start = performance.now();
  expect(wrapLine(quote(text), 80, createTheme(0)).join('')).toBe(text.normalize());
  expect(performance.now() - start).toBeLessThan(3_000);
});

test('the cells of a text are those of its clusters, whatever letters stand beside what', () => {
  const parts = fc.constantFrom('a', 'bc', '<U+200D>', MARK, '👩', '漢', '\u0600', '\u20e3', '🇩');
  const texts = fc.array(parts, { maxLength: 12 }).map(each => each.join(''));
  const slices = texts.map(text => `${'é👩'.repeat(500)}${text}`);
  fc.assert(fc.property(fc.oneof(texts, slices), isSame), { numRuns: 200 });
  fc.assert(
    fc.property(texts, text => {
      const cells = [...real.segment(text)].reduce((sum, { segment }) => sum + cellsOf(segment), 0);
      expect(cellsOf(text)).toBe(cells);
    }),
    { numRuns: 200 },
  );
});
