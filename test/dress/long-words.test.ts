import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import wrapAnsi from 'wrap-ansi';
import { say } from '../../src/render/line.js';
import { createTheme, wrapLine, wrapProse } from '../../src/render/terminal/theme.js';

const [plain, coloured] = [createTheme(0), createTheme(1)];
/** Longer ones are never left to the library. */
const LONGEST = 1_000;

const characters = fc.string({
  unit: fc.constantFrom('a', 'é', 'я', '日', '한', '😀', '█', '…'),
  minLength: 1,
  maxLength: 20,
});
const longWord = characters.map(some => some.repeat(Math.ceil((LONGEST + 1) / some.length)));
const texts = fc
  .array(fc.oneof(characters, longWord), { minLength: 1, maxLength: 4 })
  .map(words => words.join(' '));

test('words of any length are laid out as the library would, in one colour or two, at any width', () => {
  fc.assert(
    fc.property(texts, fc.nat(), fc.integer({ min: 5, max: 200 }), (text, cut, width) => {
      const library = (isProse: boolean) => wrapAnsi(text, width, { hard: true, trim: isProse }).split('\n');
      const at = cut % (text.length + 1);
      const line = [say(text.slice(0, at), 'bad'), say(text.slice(at))];
      const prose = wrapProse([say(text)], width, plain).map(row => row.trimEnd());
      expect(wrapLine([say(text)], width, plain)).toEqual(library(false));
      if (text.length > width) expect(prose).toEqual(library(true));
      expect(wrapLine(line, width, coloured).map(stripVTControlCharacters)).toEqual(library(false));
    }),
    { numRuns: 25 },
  );
});

test.each([
  ['wide letters', '日'],
  ['marks without a cell', '\u0301'],
  ['letters with marks', 'e\u0301'],
  ['emoji', '👍🏽'],
])('a word of many %s is laid out in a time that grows as it does', (_, cluster) => {
  const text = cluster.repeat(Math.floor(200_000 / cluster.length));
  const rows = wrapLine([say(text, 'bad')], 80, plain);
  expect(rows.join('').normalize()).toBe(text.normalize());
});
