import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { quote, say } from '../../src/render/line.js';
import { cutLine, fitLine, widthOf } from '../../src/render/terminal/theme.js';
import { anyCodePoint } from '../support/characters.js';
import { words } from '../support/words.js';

describe('a line is cut', () => {
  test.each([
    ['abcdef', 6, 'abcdef'],
    ['abcdef', 5, 'abcd…'],
    ['abcdef', 1, '…'],
    ['abcdef', 0, ''],
    ['漢字', 4, '漢字'],
    ['漢字', 3, '漢…'],
    ['漢字', 2, '…'],
  ])('%j at %d is %j', (text, width, cut) => {
    expect(words(cutLine([say(text)], width))).toBe(cut);
  });

  test('between spans too; the ellipsis looks like what it stands for', () => {
    expect(cutLine([say('ab', 'good'), say('cd', 'bad')], 3)).toEqual([say('ab', 'good'), say('…', 'bad')]);
  });
});

test('a line is filled up to its width', () => {
  expect(words(fitLine([say('漢')], 4))).toBe('漢  ');
  expect(words(fitLine([say('abcdef')], 4))).toBe('abc…');
});

test('whatever it holds, it is never wider, and a fitted one never narrower', () => {
  const text = fc.string({
    unit: fc.oneof(
      fc.constantFrom('漢', 'e\u0301', '👩‍👩‍👧', '1\u20e3', '🇩', '\n', '\u202e'),
      fc.string({ unit: anyCodePoint, maxLength: 2 }),
    ),
  });
  fc.assert(
    fc.property(text, text, fc.integer({ min: 1, max: 60 }), (one, other, width) => {
      const line = [...quote(one), ...quote(other, 'bad')];
      expect(stringWidth(words(cutLine(line, width)))).toBeLessThanOrEqual(width);
      expect(widthOf(fitLine(line, width))).toBe(width);
    }),
    { numRuns: 500 },
  );
});
