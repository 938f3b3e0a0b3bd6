import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { WordFinder } from '../../../src/mock/middleware.js';

const replaced = (words: readonly string[], text: string) => new WordFinder(words).replaceIn(text, '*');

describe('finds words', () => {
  test.each([
    ['none', [], 'text', 'text'],
    ['each', ['one', 'two'], 'one, two, onetwo', '*, *, **'],
    ['one that starts like another', ['abcd', 'abcd1234'], 'abcd1234 abcd12', '* *12'],
    ['one inside another', ['bc', 'abcd'], 'abcd xbcd', '* x*d'],
    ['overlapping ones as one match', ['abc', 'cde'], 'xabcdex', 'x*x'],
    ['three that overlap', ['abc', 'cde', 'efg', 'bcdef'], 'abcdefg', '*'],
    ['one that repeats itself', ['aab'], 'aaaab', 'aa*'],
    ['beyond the basic plane', ['😀😁'], 'x😀😁😀', 'x*😀'],
  ])('%s', (_, words, text, expected) => {
    expect(replaced(words, text)).toBe(expected);
  });

  test('replaces every word and nothing else', () => {
    const letters = fc.constantFrom(...'abc');
    const words = fc.array(fc.string({ unit: letters, minLength: 1, maxLength: 5 }), { maxLength: 30 });
    fc.assert(
      fc.property(words, fc.string({ unit: letters, maxLength: 40 }), (some, text) => {
        expect(replaced(some, text)).toBe(plainly(some, text));
      }),
    );
  });

  test('a word beyond the limit does not displace others, and texts that could contain it are refused', () => {
    const finder = new WordFinder(['one', 'seventeen', 'two'], 6);
    expect(finder.replaceIn('one two', '*')).toBe('* *');
    expect(() => finder.replaceIn('seventeen', '*')).toThrow(RangeError);
  });
});

test('finds ten thousand words in a hundred thousand characters in one pass', { timeout: 20_000 }, () => {
  const words = Array.from({ length: 10_000 }, (_, index) => `aaaa${index}b`);
  const text = 'a'.repeat(100_000);
  expect(replaced(words, `${text}aaaa77b`)).toBe(`${text}*`); // one by one it would be hours
});

test('finds a long word with near matches everywhere in one pass', { timeout: 20_000 }, () => {
  const text = 'a'.repeat(1_000_000);
  expect(replaced([`b${'a'.repeat(200_000)}`], text)).toBe(text); // looked for in turn it would be minutes
});

/** The same, one word and one place after the other. */
function plainly(words: readonly string[], text: string): string {
  const covered = new Set<number>();
  const joined = new Set<number>(); // to what is before it, by a word that holds both
  for (const { from, to } of words.flatMap(word => occurrences(word, text)))
    for (let at = from; at < to; at++) {
      covered.add(at);
      if (at > from) joined.add(at);
    }
  const written = (letter: string, at: number) => (covered.has(at) ? (joined.has(at) ? '' : '*') : letter);
  return [...text].map(written).join('');
}

function occurrences(word: string, text: string) {
  return [...Array(text.length).keys()]
    .filter(from => text.startsWith(word, from))
    .map(from => ({ from, to: from + word.length }));
}
