import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonLine, quote, textLines } from '../../src/render/line.js';
import { visibleLine } from '../../src/util/visible.js';
import { anyCodePoint } from '../support/characters.js';
import { expectCpuBelow } from '../support/cpu-ms.js';
import { words } from '../support/words.js';

const ALL = Number.POSITIVE_INFINITY;
const linesOf = (text: string) => textLines(text, ALL).lines.map(words);

test.each([
  ['', ['']],
  ['a', ['a']],
  ['a\n', ['a']],
  ['a\nb', ['a', 'b']],
  ['\n\na', ['', '', 'a']],
  ['a\n\n', ['a', '']],
  ['a\r\nb', ['a␍', 'b']],
])('%j becomes %j', (text, lines) => {
  expect(linesOf(text)).toEqual(lines);
});

describe('textLines', () => {
  const text = fc.string({ unit: fc.constantFrom('a', '\n', '\u202e', '\t', '日') });

  test('returns the first lines and the total number', () => {
    fc.assert(
      fc.property(text, fc.nat(20), (given, count) => {
        const whole = textLines(given, ALL);
        expect(textLines(given, count)).toEqual({ lines: whole.lines.slice(0, count), total: whole.total });
        expect(whole.lines).toHaveLength(whole.total);
      }),
    );
  });

  test('returns every line, made visible', () => {
    fc.assert(
      fc.property(text, given => {
        const lines = given === '' ? [''] : given.replace(/\n$/, '').split('\n');
        expect(linesOf(given)).toEqual(lines.map(visibleLine));
      }),
    );
  });

  test('takes time for the requested lines only', async () => {
    const long = 'line\n'.repeat(2_000_000);
    await expectCpuBelow(1_000, () => expect(textLines(long, 10)).toMatchObject({ total: 2_000_000 }));
  });
});

test('cuts a very long line and shows how much is missing', () => {
  const [line = ''] = linesOf('x'.repeat(1_000_000));
  expect(line).toBe(`${'x'.repeat(4_000)} … 996000 more characters`);
});

test('row 24: contains no raw control characters', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCodePoint }), given => {
      for (const line of linesOf(given)) expect(line).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
    }),
  );
});

test('a JSON string with escaped quotes and backslashes has one colour', () => {
  const tones = (text: string) => jsonLine(quote(text)).map(span => [span.text, span.tone]);
  expect(tones(String.raw`  "a \"b\" 1": "C:\\",`)).toEqual([
    ['  ', 'plain'],
    [String.raw`"a \"b\" 1"`, 'name'],
    [': ', 'plain'],
    [String.raw`"C:\\"`, 'string'],
    [',', 'plain'],
  ]);
});
