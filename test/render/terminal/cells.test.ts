import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { expect, test } from 'vitest';
import { cellsOf, clustersOf } from '../../../src/render/terminal/cells.js';
import { LazySegmenter } from '../../../src/render/terminal/lazy-segmenter.js';
import { expectCpuBelow } from '../../support/cpu-ms.js';

/** Characters of no cell, one or two, alone or with their neighbours. */
const CHARACTERS = [
  ...'a~éя─█⠋✓…␛©™↔✂日本か한！कꀀ䷀ﾞ1👍🏽👩❤🇩🇪',
  ...'\u0301\u0903\u093F\u1112\u1161\u11AB\u3099\uFE0F\u20E3\u200D\u200B\u00AD\u0600\t\n\u0000',
  ...['\uD800', '\u001B[31m', '\u001B[39m', '\u001B[38;5;12m', '\u001B[', '\u001B]8;;x\u0007', '\u009B31m'],
];
const lazy = new LazySegmenter();
const real = new Intl.Segmenter();
const segmentsOf = (text: string) => Array.from(real.segment(text), ({ segment }) => segment);
const hasSameSegments = (text: string) => isDeepStrictEqual([...lazy.segment(text)], [...real.segment(text)]);
const anyText = fc
  .array(fc.constantFrom(...CHARACTERS, 'plain words', 'déjà vu', ' – ', '\r', '\r\n'), { maxLength: 12 })
  .map(parts => parts.join(''));

test('cellsOf agrees with string-width', () => {
  fc.assert(
    fc.property(anyText, text => cellsOf(text) === stringWidth(text)),
    { numRuns: 100 },
  );
  // From 0x3400 on neighbours are alike, except at the ends of these ranges; the library always measures characters after them.
  const ends = [
    0x4dff, 0x4e00, 0x9fff, 0xa000, 0xabff, 0xac00, 0xd7a3, 0xd7a4, 0xff00, 0xff01, 0xff60, 0xff61,
  ];
  for (let code = 0; code < 0xff61; code += code < 0x3400 ? 1 : 61) ends.push(code);
  const differing = ends
    .map(code => String.fromCharCode(code))
    .filter(character => cellsOf(character) !== stringWidth(character));
  expect(differing).toEqual([]);
});

test('clustersOf agrees with Intl.Segmenter, without a segmenter for plain text', () => {
  fc.assert(
    fc.property(anyText, text => {
      expect([...clustersOf(text)]).toEqual(segmentsOf(text));
      expect(hasSameSegments(text)).toBe(true);
      expect(hasSameSegments(`${'é👩'.repeat(500)}${text}`)).toBe(true);
    }),
    { numRuns: 100 },
  );
});

test('characters that count as single clusters form no cluster with their neighbours', () => {
  const differing: string[] = [];
  // From 0x3400 on neighbours are alike.
  for (let code = 0; code <= 0xffff; code += code < 0x3400 ? 1 : 61) {
    const character = String.fromCharCode(code);
    const text = `a${character}${character}か`;
    if (!hasSameSegments(text) || [...clustersOf(text)].join('|') !== segmentsOf(text).join('|'))
      differing.push(code.toString(16));
  }
  expect(differing).toEqual([]);
});

test('finds the same segment at an index as Intl.Segmenter, even in a text of several slices', () => {
  const long = 'a👩\u200d👧e\u0301🇦🇧'.repeat(300);
  for (const text of ['ab', 'e\u0301', '', long])
    for (const index of [-1, 0, 1, 2, 2_345])
      expect(lazy.segment(text).containing(index)).toEqual(real.segment(text).containing(index));
  expect(hasSameSegments(long)).toBe(true);
  const [ours, theirs] = [lazy.segment(long), real.segment(long)];
  const indexes = [...long].map((_, index) => index);
  expect(indexes.map(index => ours.containing(index))).toEqual(
    indexes.map(index => theirs.containing(index)),
  );
  const marks = `e${'\u0301'.repeat(2_500)}`;
  expect(Array.from(lazy.segment(marks), ({ segment }) => segment).join('')).toBe(marks);
});

/** As Ink does with a whole frame when the window becomes narrower. */
test('finds the segments of a large frame one after the other within the time limit', async () => {
  const text = 'déjà vu 👩 日本\u001B[39m '.repeat(500);
  const segments = lazy.segment(text);
  await expectCpuBelow(3_000, () => {
    for (let index = 0; index < text.length; index++) segments.containing(index);
  });
});

test.each([
  ['marks on one letter', '\u0301', 0],
  ['joined people in one cluster', '👩\u200d', 0],
])('measures 100,000 characters of %s within the time limit', async (_, cluster, cells) => {
  const count = Math.floor(100_000 / cluster.length / 1_000) * 1_000;
  await expectCpuBelow(3_000, () => expect(cellsOf(cluster.repeat(count)) / count).toBeCloseTo(cells, 1));
});
