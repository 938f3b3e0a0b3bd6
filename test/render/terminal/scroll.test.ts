import { describe, expect, test } from 'vitest';
import { type Line, say } from '../../../src/render/line.js';
import { isCutOff, scrolledLine, scrollTo } from '../../../src/render/terminal/scroll.js';
import { words } from '../../support/words.js';

describe('scrolled lines', () => {
  const numbered = (text: string): Line => [say('12 ', 'gutter'), say(text)];
  const split = (old: string, now: string): Line => [
    ...numbered(old),
    say(' │ ', 'divider'),
    ...numbered(now),
  ];

  test.each([
    [numbered('abcdefghij'), 0, 20, '12 abcdefghij'],
    [numbered('abcdefghij'), 0, 10, '12 abcdef…'],
    [numbered('abcdefghij'), 4, 10, '12 efghij'],
    [numbered('abcdefghij'), 20, 10, '12 '],
    [numbered('漢字漢字'), 1, 10, '12  字漢字'],
    [numbered('abc'), 0, 2, '1…'],
    [split('abcdefgh', 'ABCDEFGH'), 2, 19, '12 cdef… │ 12 CDEF…'],
  ])('%#', (line, left, width, expected) => {
    expect(words(scrolledLine(line, width, left))).toBe(expected);
  });

  test('goesOn tells whether a line continues to the right', () => {
    expect([0, 2, 3].map(left => isCutOff(numbered('abcdefghij'), 10, left))).toEqual([true, true, false]);
    expect(isCutOff(split('a', 'abcdefgh'), 19, 0)).toBe(true);
  });

  test('toShow stays if the cells are visible, else scrolls to them', () => {
    const line = numbered('a'.repeat(100));
    expect(scrollTo(line, 20, 0, { from: 2, to: 4 }, 0)).toBe(0);
    expect(scrollTo(line, 20, 0, { from: 50, to: 54 }, 0)).toBe(42);
    expect(scrollTo(line, 20, 0, { from: 2, to: 4 }, 40)).toBe(0);
  });
});
