import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { textDocument } from '../../src/tui/reading/text-document.js';
import { anyCharacter } from '../support/characters.js';
import { words } from '../support/words.js';

const linesOf = (text: string) => {
  const document = textDocument(text);
  return Array.from({ length: document.length }, (_, index) => words(document.line(index)));
};

/** Texts of many lines: few characters, many line feeds. */
const texts = fc.array(fc.constantFrom('a', 'b', 'ab', 'B', ' ', '\n', '\n\n', '😀'), { maxLength: 400 });

describe('lines', () => {
  test.each([
    ['', ['']],
    ['a', ['a']],
    ['a\n', ['a']],
    ['\n', ['']],
    ['a\n\nb', ['a', '', 'b']],
    ['a\r\nb\tc', ['a␍', 'b   c']],
  ])('%j', (text, lines) => {
    expect(linesOf(text)).toEqual(lines);
  });

  test('are those of the text', () => {
    fc.assert(
      fc.property(texts, pieces => {
        const text = `${pieces.join('')}\nend`;
        expect(linesOf(text)).toEqual(text.split('\n'));
      }),
    );
  });

  test('a long one is split without losing or tearing a character', () => {
    const text = `${'x'.repeat(999)}😀${'y'.repeat(300_000)}\nz`;
    const lines = linesOf(text);
    expect(lines.at(-1)).toBe('z');
    expect(Math.max(...lines.map(line => line.length))).toBeLessThan(1_010);
    expect(lines.map((line, index) => (index < lines.length - 2 ? line.slice(0, -2) : line)).join('')).toBe(
      text.replace('\n', ''),
    );
    expect(lines.slice(0, -2).every(line => line.endsWith(' …'))).toBe(true);
  });

  test('control characters are made visible (threats, row 24)', () => {
    fc.assert(
      fc.property(fc.array(anyCharacter, { maxLength: 60 }), characters => {
        expect(linesOf(characters.join('')).join('')).not.toMatch(
          /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/u,
        );
      }),
    );
  });
});

describe('find', () => {
  test('finds the same as a search line by line', () => {
    fc.assert(
      fc.property(texts, fc.constantFrom('a', 'ba', 'b b', '😀', 'aa😀'), fc.nat(), (pieces, wanted, at) => {
        const text = pieces.join('');
        const document = textDocument(text);
        const lines = linesOf(text);
        const from = at % document.length;
        const pattern = new RegExp(wanted, 'iu');
        const down = lines.findIndex((line, index) => index >= from && pattern.test(line));
        expect(document.find(pattern, from, 1)).toBe(down < 0 ? null : down);
        const up = lines.findLastIndex((line, index) => index <= from && pattern.test(line));
        expect(document.find(pattern, from, -1)).toBe(up < 0 ? null : up);
      }),
      { numRuns: 100 },
    );
  });

  test('finds far away, in both directions', () => {
    const text = `first\n${'nothing here\n'.repeat(100_000)}last`;
    const document = textDocument(text);
    expect(document.find(/last/, 0, 1)).toBe(100_001);
    expect(document.find(/first/, 100_001, -1)).toBe(0);
    expect(document.find(/missing/, 50_000, 1)).toBeNull();
  });
});
