import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import wrapAnsi from 'wrap-ansi';
import { type Ground, type Line, quote, say, type Tone } from '../../../src/render/line.js';
import { cutLine, fitLine, widthOf } from '../../../src/render/terminal/fit.js';
import { scrolledLine } from '../../../src/render/terminal/scroll.js';
import { createTheme, paletteOf, styleLine } from '../../../src/render/terminal/theme.js';
import { printed, wrapLine } from '../../../src/render/terminal/wrap.js';
import { anyCodePoint } from '../../support/characters.js';
import { ciCommandsIn } from '../../support/ci-commands.js';
import { expectCpuBelow } from '../../support/cpu-ms.js';
import { words } from '../../support/words.js';

const plain = createTheme(0);
const ESC = '\u001b';
const DIVIDER = say('│', 'divider');
const LEVELS = [0, 1, 2, 3] as const;
const tones = Object.keys(plain.palette.tones) as Tone[];
const grounds = Object.keys(plain.palette.grounds) as Ground[];

const anyText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        ...[
          '日本語',
          '한글',
          '😀',
          '👨‍👩‍👧',
          '🇩🇪',
          '🇪',
          'e\u0301',
          'กำ',
          '\u202E',
          '\u001b[31m',
          '\t',
          ' ',
          'word',
        ],
        ...['ﾊﾞ', '\u1100\u1161', '\u0903', '1\u20E3', '\u200d', '\u0301', '\n'],
      ),
      fc.string({ unit: anyCodePoint, maxLength: 8 }),
    ),
    { maxLength: 20 },
  )
  .map(parts => parts.join(''));
const anyLine = fc
  .array(
    fc
      .tuple(
        anyText,
        fc.constantFrom(...tones.filter(tone => tone !== 'divider')),
        fc.option(fc.constantFrom(...grounds)),
      )
      .map(([text, tone, ground]) => quote(text, tone).map(each => (ground ? { ...each, ground } : each))),
    { maxLength: 6 },
  )
  .map(spans => spans.flat());

describe('styleLine', () => {
  test('writes no escape bytes without colours', () => {
    const quiet = tones.filter(tone => tone !== 'match' && tone !== 'cursor');
    const line = quiet.map(tone => say(tone, tone));
    expect(styleLine(line, plain)).toBe(quiet.join(''));
  });

  test('draws the cursor, a match and, with colours, a hidden character in inverse on any background', () => {
    const inverse = (text: string) => `${ESC}[7m${text}${ESC}[27m`;
    for (const level of LEVELS) {
      const theme = createTheme(level);
      expect(styleLine([say('x', 'cursor')], theme)).toBe(inverse('x'));
      for (const on of [{}, ...grounds.map(ground => ({ ground }))]) {
        expect(styleLine([{ ...say('x', 'match'), ...on }], theme)).toBe(inverse('x'));
        expect(styleLine([{ ...say('␛', 'hidden'), ...on }], theme)).toBe(level === 0 ? '␛' : inverse('␛'));
      }
    }
  });
});

describe('a palette', () => {
  /** The contrast of WCAG 2: 4.5 is enough for text, 3 for bold text. */
  function contrast(one: string, other: string): number {
    const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  }

  function luminance(colour: string): number {
    const [red = 0, green = 0, blue = 0] = rgbOf(colour).map(part =>
      part / 255 <= 0.03928 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  }

  function rgbOf(colour: string): number[] {
    const [, index] = /^ansi256\((\d+)\)$/.exec(colour) ?? [];
    if (index === undefined) return [1, 3, 5].map(at => Number.parseInt(colour.slice(at, at + 2), 16));
    const number = Number(index);
    if (number >= 232) return Array<number>(3).fill(8 + 10 * (number - 232));
    const place = number - 16;
    return [Math.floor(place / 36), Math.floor(place / 6) % 6, place % 6].map(step =>
      step === 0 ? 0 : 55 + 40 * step,
    );
  }

  test.each([
    [2, 'dark'],
    [2, 'light'],
    [3, 'dark'],
    [3, 'light'],
  ] as const)(
    'has readable code in the rows of a diff, with level %i on a %s background',
    (level, background) => {
      const { grounds, inks } = paletteOf(level, background);
      for (const [ground, { background: tint = '', color = '' }] of Object.entries(grounds)) {
        const enough = level === 2 && ground.endsWith('-word') ? 3 : 4.5;
        for (const ink of [color, ...Object.values(inks ?? {})])
          expect([ink, contrast(tint, ink)]).toEqual([ink, expect.toSatisfy(it => it >= enough)]);
      }
    },
  );

  test('tints changed words more than the row around them', () => {
    for (const background of ['dark', 'light'] as const)
      for (const level of [2, 3] as const) {
        const { grounds } = paletteOf(level, background);
        const paper = background === 'dark' ? '#000000' : '#ffffff';
        for (const kind of ['added', 'removed'] as const) {
          const [row = '', word = ''] = [grounds[kind].background, grounds[`${kind}-word`].background];
          expect(contrast(word, paper)).toBeGreaterThan(contrast(row, paper));
        }
      }
  });
});

describe('wrapLine', () => {
  const row: Line = [
    say('12 13 ', 'gutter'),
    say('+', 'added'),
    say(' ', 'gutter'),
    say('abcdefghijklmnop', 'added'),
  ];
  const half = (text: string) => [say('1 ', 'gutter'), say('-', 'removed'), say(' ', 'gutter'), say(text)];

  test.each<[string, Line, number, string[]]>([
    ['a row hangs under its gutter', row, 18, ['12 13 + abcdefghij', '        klmnop']],
    ['without room nothing hangs', row, 12, ['12 13 + abcd', 'efghijklmnop']],
    [
      'halves are wrapped separately',
      [...half('abcdefghijklmno'), DIVIDER, ...half('xyz')],
      31,
      ['1 - abcdefghijk│1 - xyz', '    lmno       │'],
    ],
    ['an empty half is blank', [DIVIDER, ...half('xyz')], 31, ['               │1 - xyz']],
    ['an empty line is one row', [], 10, ['']],
    ['a line feed begins a row', [say('ab\n\ncd')], 10, ['ab', '', 'cd']],
  ])('%s', (_, line, width, rows) => {
    expect(wrapLine(line, width, plain)).toEqual(rows);
  });

  test('fills a row with its background, even an empty one', () => {
    const fill = (cells: number) => `${ESC}[48;5;22m${ESC}[38;5;231m${' '.repeat(cells)}${ESC}[39m${ESC}[49m`;
    const onGround = (text: string): Line => [say('+ ', 'gutter'), { ...say(text), ground: 'added' }];
    const [first = '', second = ''] = wrapLine(onGround('abcdefghijkl'), 12, createTheme(2));
    expect(stringWidth(first)).toBe(12);
    expect(second.endsWith(fill(8))).toBe(true);
    expect(wrapLine(onGround(''), 12, createTheme(2))[0]).toContain(fill(10));
  });

  test('no row exceeds the width, no text is lost, and each row closes its escape sequences', () => {
    const halves = fc.tuple(anyLine, anyLine).map(([left, right]) => [...left, DIVIDER, ...right]);
    fc.assert(
      fc.property(
        fc.oneof(anyLine, halves),
        fc.integer({ min: 5, max: 80 }),
        fc.constantFrom(...LEVELS),
        (line, width, level) => {
          const rows = wrapLine(line, width, createTheme(level));
          for (const dressed of rows) {
            expect(stringWidth(dressed)).toBeLessThanOrEqual(width);
            expect(openStyles(dressed)).toEqual([]);
          }
          const isWhole = line.every(({ tone }) => tone !== 'gutter' && tone !== 'divider');
          if (isWhole && level === 0) expect(stripVTControlCharacters(rows.join(''))).toBe(words(line));
        },
      ),
      { numRuns: 60 },
    );
  });

  test('wraps text like wrap-ansi, in one colour or two, and as prose', () => {
    const some = fc.string({
      unit: fc.constantFrom('a', 'é', 'я', '日', '한', '😀', '█', '…'),
      minLength: 1,
      maxLength: 20,
    });
    const long = some.map(word => word.repeat(Math.ceil(1_001 / word.length)));
    const texts = fc
      .array(fc.oneof(some, some, long), { minLength: 1, maxLength: 9 })
      .map(all => all.join(' '));
    fc.assert(
      fc.property(texts, fc.nat(), fc.integer({ min: 5, max: 200 }), (text, cut, width) => {
        const library = (trim: boolean) => wrapAnsi(text, width, { hard: true, trim }).split('\n');
        const at = cut % (text.length + 1);
        const line = [say(text.slice(0, at), 'bad'), say(text.slice(at))];
        expect(wrapLine(line, width, plain)).toEqual(library(false));
        expect(wrapLine(line, width, createTheme(1)).map(stripVTControlCharacters)).toEqual(library(false));
        expect(printed([line], plain, width)).toBe(`${library(true).join('\n')}\n`);
      }),
      { numRuns: 40 },
    );
    expect(printed([[say('  aa bb')]], plain, 5)).toBe('  aa\nbb\n');
  });

  test.each([
    ['marks on one letter', '\u0301'],
    ['people in one cluster', '👩\u200d'],
    ['mixed text', 'Über den Fluß – 日本語 and 👍 words. '],
  ])('wraps 100,000 characters of %s within the time limit', async (_, piece) => {
    const text = piece.repeat(Math.floor(100_000 / piece.length));
    await expectCpuBelow(2_000, () => {
      expect(wrapLine([say(text, 'bad')], 80, plain).join('')).toBe(text);
      wrapLine(quote(text), 80, plain);
    });
  });
});

describe('row 32: CI commands', () => {
  const COMMANDS = ['::error::', '::error file=a::', '##[error]', '##vso[x]', '::group::'];
  const anyParts = fc.array(fc.constantFrom(...COMMANDS, ':', '::', '#', '[', 'x', 'std', ' ', '  ', '日'));
  const anySpans = fc.array(
    anyParts.map(parts => quote(parts.join(''))),
    { maxLength: 4 },
  );
  const anyWidth = fc.integer({ min: 2, max: 40 });

  test('no row starts with one, wherever it is wrapped, scrolled or made of spans', () => {
    fc.assert(
      fc.property(anySpans, anyWidth, fc.nat({ max: 60 }), (spans, width, left) => {
        const line = [say('  ', 'gutter'), ...spans.flat()];
        const rows = [line, spans.flat()].flatMap(each => [
          styleLine(each, plain),
          ...wrapLine(each, width, plain),
          ...printed([each], plain, width).split('\n'),
          styleLine(scrolledLine(each, width, left), plain),
        ]);
        expect(ciCommandsIn(rows.join('\n'))).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });

  test('a word that is too wide is broken a character earlier', () => {
    expect(wrapLine(quote('abcdefghi::error::x'), 9, plain)).toEqual(['abcdefgh', 'i::error:', ':x']);
  });

  test('a command in spans of its own is replaced', () => {
    const spans = ['::', 'error', '::'].map(text => say(text));
    const shown = (line: Line) => stripVTControlCharacters(styleLine(line, plain));
    expect(shown(spans)).toBe('<U+003A>:error::');
    expect(shown([say('##'), say('[error]')])).toBe('#<U+0023>[error]');
  });
});

/** What a terminal would still have on at the end of a row. */
function openStyles(dressed: string): string[] {
  const on = new Map<string, string>();
  for (const [, codes = ''] of dressed.matchAll(new RegExp(`${ESC}\\[([\\d;]*)m`, 'g'))) {
    const closes = { '39': 'fg', '49': 'bg', '22': 'weight', '24': 'line', '27': 'inverse' }[codes];
    const opens = { '1': 'weight', '2': 'weight', '4': 'line', '7': 'inverse' }[codes];
    if (closes) on.delete(closes);
    else on.set(opens ?? (codes.startsWith('48') ? 'bg' : 'fg'), codes);
  }
  return [...on.values()];
}

describe('cutLine', () => {
  test('cut or scrolled lines are never too wide, and fitted ones never too narrow', () => {
    fc.assert(
      fc.property(anyLine, fc.nat({ max: 30 }), fc.integer({ min: 1, max: 60 }), (line, left, width) => {
        expect(stringWidth(words(cutLine(line, width)))).toBeLessThanOrEqual(width);
        expect(widthOf(scrolledLine([say('1 ', 'gutter'), ...line], width, left))).toBeLessThanOrEqual(width);
        expect(widthOf(fitLine(line, width))).toBe(width);
      }),
      { numRuns: 100 },
    );
  });
});
