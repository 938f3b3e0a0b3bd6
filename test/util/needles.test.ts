import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Needles } from '../../src/util/redact.js';

const OTHERS = Array.from({ length: 100 }, (_, n) => `other-${n}`);

/** Among few others, and among many. */
function found(text: string, ...needles: string[]): string[] {
  const [few = [], many] = [[], OTHERS].map(others => {
    const all = new Needles();
    for (const needle of [...needles, ...others]) all.add(needle);
    return all.in(text).map(({ from, to }) => text.slice(from, to));
  });
  expect(many).toEqual(few);
  return few;
}

test.each([
  ['each of them, in order', 'a bcde fghi bcde', ['fghi', 'bcde'], ['bcde', 'fghi', 'bcde']],
  ['the longest that begins at a place', 'abcdef', ['abcd', 'abcdef'], ['abcdef']],
  ['those that overlap as one', '<abcdefgh>', ['abcdef', 'efgh'], ['abcdefgh']],
  ['those side by side apart', 'abcdabcd', ['abcd'], ['abcd', 'abcd']],
  ['none that is not whole', 'abcd', ['abcde'], []],
  ['none of three characters', 'abc', ['abc'], []],
])('finds %s', (_, text, needles, expected) => {
  expect(found(text, ...needles)).toEqual(expected);
});

test('finds all that there are', () => {
  const word = fc.string({ unit: fc.constantFrom(...'xyz'), minLength: 4, maxLength: 6 });
  fc.assert(
    fc.property(fc.array(word, { minLength: 1 }), fc.array(word), (needles, words) => {
      const text = words.join('-');
      const rest = found(text, ...needles).reduce((left, each) => left.replace(each, '|'), text);
      for (const needle of needles) expect(rest).not.toContain(needle);
    }),
  );
});
