import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import type { Ground, Line, Tone } from '../../src/render/line.js';
import { quote, say } from '../../src/render/line.js';
import { createTheme, dressLine, wrapLine } from '../../src/render/terminal/theme.js';
import { anyCodePoint } from '../support/characters.js';

const plain = createTheme(0);
const ESC = '\u001b';
const SGR = new RegExp(`${ESC}\\[([\\d;]*)m`, 'g');
const tones = Object.keys(plain).filter((tone): tone is Tone => tone in plain && tone !== 'on');
/** Ours alone. */
const DIVIDER = say('│', 'divider');
const foreignTones = tones.filter(tone => tone !== DIVIDER.tone);
const grounds = Object.keys(plain.on).filter((ground): ground is Ground => ground in plain.on);
const row: Line = [
  say('12 13 ', 'gutter'),
  say('+', 'added'),
  say(' ', 'gutter'),
  say('abcdefghijklmnop', 'added'),
];

describe('dressLine', () => {
  test('without colour there is no escape byte', () => {
    const quiet = tones.filter(tone => tone !== 'match' && tone !== 'cursor');
    expect(
      dressLine(
        quiet.map(tone => say(tone, tone)),
        plain,
      ),
    ).toBe(quiet.join(''));
  });

  test.each([0, 1, 2, 3] as const)('but a cursor is inverse, at level %i too', level => {
    expect(dressLine([say('x', 'cursor')], createTheme(level))).toBe(`${ESC}[7mx${ESC}[27m`);
  });

  test('and a match, on any ground', () => {
    for (const level of [0, 1, 2, 3] as const)
      for (const ground of [{}, ...grounds.map(each => ({ ground: each }))])
        expect(dressLine([{ ...say('x', 'match'), ...ground }], createTheme(level))).toBe(
          `${ESC}[7mx${ESC}[27m`,
        );
  });

  test.each([1, 2, 3] as const)('at level %i every tone but plain is dressed', level => {
    const theme = createTheme(level);
    for (const tone of tones) expect(theme[tone]('x').includes(ESC)).toBe(tone !== 'plain');
  });

  test('hidden characters are inverse, on any ground', () => {
    for (const level of [1, 2, 3] as const)
      for (const ground of [{}, ...grounds.map(each => ({ ground: each }))])
        expect(dressLine([{ ...say('␛', 'hidden'), ...ground }], createTheme(level))).toBe(
          `${ESC}[7m␛${ESC}[27m`,
        );
  });

  test.each([
    [1, `${ESC}[32mlet${ESC}[39m`],
    [2, `${ESC}[48;5;22m${ESC}[38;5;213mlet${ESC}[39m${ESC}[49m`],
  ] as const)('at level %i a ground shows', (level, dressed) => {
    expect(dressLine([{ text: 'let', tone: 'keyword', ground: 'added' }], createTheme(level))).toBe(dressed);
  });

  test('words stand out from the row they are in, with few colours and with many', () => {
    for (const level of [1, 2, 3] as const) {
      const looks = grounds.map(ground => dressLine([{ ...say('x'), ground }], createTheme(level)));
      expect(new Set(looks).size).toBe(grounds.length);
    }
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

  test('the halves of a line keep to their halves, and each hangs under its own gutter', () => {
    const half = (text: string) => [say('1 ', 'gutter'), say('-', 'removed'), say(' ', 'gutter'), say(text)];
    const line = [...half('abcdefghijklmno'), DIVIDER, ...half('xyz')];
    expect(wrapLine(line, 31, plain)).toEqual(['1 - abcdefghijk│1 - xyz', '    lmno       │']);
    expect(wrapLine([DIVIDER, ...half('xyz')], 31, plain)).toEqual(['               │1 - xyz']);
  });

  test('what stands on a ground fills its row with it, an empty row too', () => {
    const fill = (cells: number) => `${ESC}[48;5;22m${ESC}[38;5;255m${' '.repeat(cells)}${ESC}[39m${ESC}[49m`;
    const row = (text: string): Line => [say('+ ', 'gutter'), { ...say(text), ground: 'added' }];
    const [first = '', second = ''] = wrapLine(row('abcdefghijkl'), 12, createTheme(2));
    expect(stringWidth(first)).toBe(12);
    expect(second.endsWith(fill(8))).toBe(true);
    expect(wrapLine(row(''), 12, createTheme(2))[0]).toContain(fill(10));
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
    .array(fc.oneof(piece, fc.string({ unit: anyCodePoint })), { maxLength: 20 })
    .map(parts => parts.join(''));
  const span = fc
    .tuple(text, fc.constantFrom(...foreignTones), fc.option(fc.constantFrom(...grounds)))
    .map(([words, tone, ground]) => quote(words, tone).map(each => (ground ? { ...each, ground } : each)));
  const lines = fc.array(span, { maxLength: 6 }).map(spans => spans.flat());
  const halves = fc.tuple(lines, lines).map(([left, right]) => [...left, DIVIDER, ...right]);
  const levels = fc.constantFrom(0 as const, 1 as const, 2 as const, 3 as const);

  test('no row is wider than told, and each closes what it opened', () => {
    fc.assert(
      fc.property(fc.oneof(lines, halves), fc.integer({ min: 5, max: 80 }), levels, (line, width, level) => {
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
