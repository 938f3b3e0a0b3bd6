import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Line } from '../../src/render/line.js';
import { quote, say } from '../../src/render/line.js';
import { goesOnBeyond, slideLine, slideTo } from '../../src/render/terminal/svg.js';
import { widthOf } from '../../src/render/terminal/theme.js';
import { words } from '../support/words.js';

const numbered = (text: string): Line => [say('12 ', 'gutter'), say(text)];
const split = (old: string, now: string): Line => [...numbered(old), say(' │ ', 'divider'), ...numbered(now)];
const slid = (line: Line, left: number, width: number) => words(slideLine(line, left, width));

describe('slideLine', () => {
  test.each([
    [numbered('abcdefghij'), 0, 20, '12 abcdefghij'],
    [numbered('abcdefghij'), 0, 10, '12 abcdef…'],
    [numbered('abcdefghij'), 4, 10, '12 efghij'],
    [numbered('abcdefghij'), 20, 10, '12 '],
    [numbered('漢字漢字'), 1, 10, '12  字漢字'],
    [numbered('abc'), 0, 2, '1…'],
    [split('abcdefgh', 'ABCDEFGH'), 2, 19, '12 cdef… │ 12 CDEF…'],
  ])('%#', (line, left, width, expected) => {
    expect(slid(line, left, width)).toBe(expected);
  });

  test('is never wider than told, whatever the characters', () => {
    const text = fc.string({
      unit: fc.constantFrom('a', '漢', '👩', '\u200d', 'e\u0301', '\u0301', '🇩', '🇪', '\t', '\u202e'),
    });
    fc.assert(
      fc.property(text, fc.nat({ max: 30 }), fc.integer({ min: 1, max: 30 }), (given, left, width) => {
        expect(widthOf(slideLine([say('1 ', 'gutter'), ...quote(given)], left, width))).toBeLessThanOrEqual(
          width,
        );
      }),
    );
  });
});

test('goesOnBeyond tells whether there is more to the right', () => {
  const line = numbered('abcdefghij');
  expect([0, 2, 3].map(left => goesOnBeyond(line, left, 10))).toEqual([true, true, false]);
  expect(goesOnBeyond(split('a', 'abcdefgh'), 0, 19)).toBe(true);
});

test('slideTo stays where the cells are seen, else brings them into sight', () => {
  const line = numbered('a'.repeat(100));
  expect(slideTo(line, 0, { from: 2, to: 4 }, 0, 20)).toBe(0);
  expect(slideTo(line, 0, { from: 50, to: 54 }, 0, 20)).toBe(42);
  expect(slideTo(line, 0, { from: 2, to: 4 }, 40, 20)).toBe(0);
});
