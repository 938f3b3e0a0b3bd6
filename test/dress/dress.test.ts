import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { dressLine, wrapLine } from '../../src/dress/dress.js';
import { createTheme } from '../../src/dress/theme.js';
import type { Line, Tone } from '../../src/story/line.js';
import { quote, say } from '../../src/story/spans.js';

const plain = createTheme(0);
const ESC = '\u001b';
const SGR = new RegExp(`${ESC}\\[([\\d;]*)m`, 'g');
const tones = Object.keys(plain).filter((tone): tone is Tone => tone in plain);
const row: Line = [
  say('12 13 ', 'gutter'),
  say('+', 'added'),
  say(' ', 'gutter'),
  say('abcdefghijklmnop', 'added'),
];

describe('dressLine', () => {
  test('without colour there is no escape byte', () => {
    expect(
      dressLine(
        tones.map(tone => say(tone, tone)),
        plain,
      ),
    ).toBe(tones.join(''));
  });

  test.each([1, 2, 3] as const)('at level %i every tone but plain is dressed', level => {
    const theme = createTheme(level);
    for (const tone of tones) expect(theme[tone]('x').includes(ESC)).toBe(tone !== 'plain');
  });

  test('hidden characters are inverse', () => {
    expect(dressLine([say('␛', 'hidden')], createTheme(1))).toBe(`${ESC}[7m␛${ESC}[27m`);
  });
});

describe('wrapLine', () => {
  test('a row hangs under its gutter', () => {
    expect(wrapLine(row, 18, plain)).toEqual(['12 13 + abcdefghij', '        klmnop']);
  });

  test('where there is no room, nothing hangs', () => {
    expect(wrapLine(row, 12, plain)).toEqual(['12 13 + abcd', 'efghijklmnop']);
  });

  test('a letter under more marks than a row has cells is taken apart', () => {
    const letter = `k${'\u0903'.repeat(20)}`;
    const rows = wrapLine([say(letter, 'bad')], 8, createTheme(1));
    expect(rows.map(row => stringWidth(row))).toEqual([8, 8, 5]);
    expect(rows.every(row => row.startsWith(`${ESC}[31m`) && row.endsWith(`${ESC}[39m`))).toBe(true);
  });

  test('an empty line is one row', () => {
    expect(wrapLine([], 10, plain)).toEqual(['']);
  });

  const piece = fc.constantFrom(
    '日本語',
    '한글',
    '😀',
    '👨‍👩‍👧',
    '🇩🇪',
    'e\u0301',
    'กำ',
    '\u202E',
    '\u001b[31m',
    '\t',
    ' ',
    'word',
    'ﾊﾞ',
    '\u1100\u1161',
    '\u0903',
    '1\u20E3',
  );
  const text = fc
    .array(fc.oneof(piece, fc.string({ unit: 'binary' })), { maxLength: 20 })
    .map(parts => parts.join(''));
  const span = fc.tuple(text, fc.constantFrom(...tones)).map(([words, tone]) => quote(words, tone));
  const lines = fc.array(span, { maxLength: 6 }).map(spans => spans.flat());
  const levels = fc.constantFrom(0 as const, 1 as const, 2 as const, 3 as const);

  test('no row is wider than told, and each closes what it opened', () => {
    fc.assert(
      fc.property(lines, fc.integer({ min: 2, max: 80 }), levels, (line, width, level) => {
        for (const dressed of wrapLine(line, width, createTheme(level))) {
          expect(stringWidth(dressed)).toBeLessThanOrEqual(width);
          expect(openStyles(dressed)).toEqual([]);
        }
      }),
      { numRuns: 500 },
    );
  });
});

/** What a terminal would still have on at the end of a row. */
function openStyles(dressed: string): string[] {
  const on = new Map<string, string>();
  for (const [, codes = ''] of dressed.matchAll(SGR)) {
    const closes = { '39': 'fg', '49': 'bg', '22': 'weight', '24': 'line', '27': 'inverse' }[codes];
    if (closes) on.delete(closes);
    else on.set(aspectOf(codes), codes);
  }
  return [...on.values()];
}

function aspectOf(codes: string): string {
  if (codes === '1' || codes === '2') return 'weight';
  if (codes === '4') return 'line';
  if (codes === '7') return 'inverse';
  return codes.startsWith('48') ? 'bg' : 'fg';
}
