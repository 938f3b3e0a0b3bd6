import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { hiddenIn, visible, visibleLine, visibleRuns, withoutColours } from '../../src/util/visible.js';
import { anyCodePoint } from '../support/characters.js';

const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
const trouble = fc.constantFrom(
  '\u001b[31m',
  '\u202E',
  '\u200B',
  '\u009B',
  '\uD800',
  '\u2028',
  '\u{E0041}',
  '\uFE0F',
  '\t',
  '\n',
  '\r',
);
const foreign = fc
  .array(fc.oneof(fc.string({ unit: anyCodePoint, maxLength: 4 }), trouble))
  .map(parts => parts.join(''));

const isSeen = (character: string) => !HIDDEN.test(character);

test('a log loses its colours, and nothing else', () => {
  expect(withoutColours('\u001b[1;33mwarn\u001b[0m at \u001b[38;5;12ma\u001b[m')).toBe('warn at a');
  expect(withoutColours('\u001b[2J\u001b]0;title\u0007[33m')).toBe('\u001b[2J\u001b]0;title\u0007[33m');
});

describe('workflow commands of CI systems', () => {
  test.each([
    ['::error::x', '<U+003A>:error::x'],
    ['  ::add-mask::x', '  <U+003A>:add-mask::x'],
    ['a\n::error file=a.ts,line=1::x', 'a\n<U+003A>:error file=a.ts,line=1::x'],
    ['may be wrapped ::stop-commands::x', 'may be wrapped <U+003A>:stop-commands::x'],
    ['a ##[error]x', 'a #<U+0023>[error]x'],
    ['a ##vso[task.setvariable]x', 'a #<U+0023>vso[task.setvariable]x'],
    ['###VSO[x]', '##<U+0023>VSO[x]'],
    ["##teamcity[message text='x']", "#<U+0023>teamcity[message text='x']"],
    ['std::error::Error', 'std::error::Error'],
    ['f :: Int', 'f :: Int'],
    ['## [a link]', '## [a link]'],
  ])('%j is shown as %j', (text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  test('the middle of a line is not treated as its start', () => {
    expect(visibleRuns('::Error::new()', 8)).toEqual([{ text: '::Error::new()', isReplaced: false }]);
  });
});

describe('visible', () => {
  test('leaves no invisible character except the line feed', () => {
    fc.assert(
      fc.property(foreign, text => {
        expect(visible(text).replaceAll('\n', '')).not.toMatch(HIDDEN);
        expect(visibleLine(text)).not.toMatch(HIDDEN);
      }),
    );
  });

  test('keeps every visible character, in order and outside of replaced runs', () => {
    fc.assert(
      fc.property(foreign, text => {
        const plain = visibleRuns(text).filter(run => !run.isReplaced);
        const kept = plain
          .map(run => run.text)
          .join('')
          .replaceAll(/[ \n]/g, '');
        const seen = Array.from(text).filter(isSeen).join('').replaceAll(' ', '');
        expect(kept).toBe(seen);
      }),
    );
  });

  test('replaced and plain runs alternate', () => {
    fc.assert(
      fc.property(foreign, text => {
        const runs = visibleRuns(text);
        for (const [index, run] of runs.entries())
          expect(runs[index + 1]?.isReplaced).not.toBe(run.isReplaced);
      }),
    );
  });

  test.each([
    ['\u001b[2J', '␛[2J'],
    ['\u007f', '␡'],
    ['\u009b', '<U+009B>'],
    ['a\u202Eb', 'a<U+202E>b'],
    ['\uD83D', '<U+D83D>'],
    ['\u{E0041}', '<U+E0041>'],
    ['a\r\nb', 'a␍\nb'],
    ['a\tb', 'a   b'],
    ['abcd\tb', 'abcd    b'],
    ['abc\nd\te', 'abc\nd   e'],
    ['e\u0301 日本 😀', 'e\u0301 日本 😀'],
  ])('%j', (text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  test('a text that begins in the middle of a line keeps its tab stops', () => {
    expect(visibleRuns('\tx', 3)).toEqual([{ text: ' x', isReplaced: false }]);
  });
});

test('visibleLine replaces line feeds too', () => {
  expect(visibleLine('a\nb')).toBe('a␊b');
});

test('hiddenIn counts neither tabs nor line feeds, and lists the first replacements', () => {
  expect(hiddenIn('a\tb\n\u0000\u202E', '\u0000\u{E0041}\u009b')).toEqual({
    count: 5,
    replacements: ['␀', '<U+202E>', '<U+E0041>'],
  });
});

describe('U+FE0F', () => {
  test.each([
    ['⚠\uFE0F disk full', '⚠ disk full', 0],
    ['1\uFE0F\u20E3 first', '1\u20E3 first', 0],
    ['a\uFE0F', 'a<U+FE0F>', 1],
    ['⚠\uFE0F\uFE0F', '⚠<U+FE0F>', 1],
    ['1\uFE0F', '1<U+FE0F>', 1],
  ])('%j is shown as %j: in an emoji it hides nothing', (text, shown, count) => {
    expect(visible(text)).toBe(shown);
    expect(hiddenIn(text).count).toBe(count);
  });
});
