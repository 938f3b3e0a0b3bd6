import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { wordMarks } from '../../src/segments/word-marks.js';
import { anyCodePoint } from '../support/characters.js';

const joined = (marks: readonly { text: string }[]) => marks.map(mark => mark.text).join('');

describe('wordMarks', () => {
  test('marks the words that differ', () => {
    expect(wordMarks('let total = a;', 'let total = b;')).toEqual({
      removed: [
        { text: 'let total = ', changed: false },
        { text: 'a', changed: true },
        { text: ';', changed: false },
      ],
      added: [
        { text: 'let total = ', changed: false },
        { text: 'b', changed: true },
        { text: ';', changed: false },
      ],
    });
  });

  test('does not mark lines with almost nothing in common', () => {
    expect(wordMarks('import { readFile } from "fs";', 'const answer = 42;')).toEqual({
      removed: [{ text: 'import { readFile } from "fs";', changed: false }],
      added: [{ text: 'const answer = 42;', changed: false }],
    });
  });

  test('gives up on lines with too many edits', () => {
    const words = (seed: string) => Array.from({ length: 1_000 }, (_, i) => `${seed}${i}`).join(' ');
    expect(wordMarks(words('a'), words('b')).added).toHaveLength(1);
  });

  test('preserves the whole text', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCodePoint }), fc.string({ unit: anyCodePoint }), (removed, added) => {
        const marks = wordMarks(removed, added);
        expect(joined(marks.removed)).toBe(removed);
        expect(joined(marks.added)).toBe(added);
      }),
    );
  });
});
