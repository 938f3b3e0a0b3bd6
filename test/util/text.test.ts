import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  byteLines,
  bytesText,
  didYouMean,
  excerpt,
  formatDuration,
  joinFirst,
  LineSplitter,
  nearest,
  parseDuration,
  truncate,
  truncateBeforeToken,
} from '../../src/util/text.js';

describe('cuts text to 8 characters, without splitting one', () => {
  test.each([
    ['12345678', '12345678'],
    ['123456789', '12345678…'],
    ['1234567😀', '1234567…'],
    ['\ud83d234567890', '\ufffd2345678…'],
  ])('%j', (text, expected) => {
    expect(truncate(text, 8)).toBe(expected);
  });
});

test('row 25: a cut before redaction leaves no part of a token', () => {
  expect(truncateBeforeToken('the id ghp_0123456789abcdef', 18)).toBe('the id …');
  expect(truncateBeforeToken('the id is a-long-word-of-letters', 18)).toBe('the id is a-long-w…');
});

test.each([
  ['short', '"short"'],
  ['two\nlines', '"two␊lines"'],
  ['x'.repeat(300), `"${'x'.repeat(300)}"`],
  [`see ${'x'.repeat(280)} s3cret-s3cret-s3cret`, `"see ${'x'.repeat(280)} …"`],
  ['x'.repeat(301), `"${'x'.repeat(300)}…"`],
  ['😀'.repeat(5_000_000), `"${'😀'.repeat(300)}…"`],
])('an excerpt is one line of at most 300 characters', (text, expected) => {
  expect(excerpt(text)).toBe(expected);
});

test.each([
  [['a', 'b', 'c'], 'a, b, c'],
  [['a', 'b', 'c', 'd', 'e'], 'a, b, c and 2 more'],
])('the first three of %j', (names, text) => {
  expect(joinFirst(names, 3)).toBe(text);
});

test.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [1024 ** 2, '1 MiB'],
  [1024 ** 2 + 1, '1048577 bytes'],
])('the size %i is %s', (size, text) => expect(bytesText(size)).toBe(text));

describe('durations', () => {
  test.each([
    [0, '0ms'],
    [0.26, '0.3ms'],
    [9.96, '10ms'],
    [412.7, '413ms'],
    [999.6, '1s'],
    [1_234, '1.2s'],
    [60_000, '1m'],
    [303_000, '5m 3s'],
  ])('formats %d ms as %s', (milliseconds, text) => {
    expect(formatDuration(milliseconds)).toBe(text);
  });

  test.each<readonly [string, number | null]>([
    ['500ms', 500],
    ['1.5s', 1_500],
    ['5m', 300_000],
    ['1h', 3_600_000],
    ['250', 250],
    [' 2 s ', 2_000],
    ...[
      '',
      's',
      '-1',
      '1d',
      '2 seconds',
      '1e3',
      '.5s',
      '1,5s',
      '2s3',
      'NaN',
      '0x10',
      '٣s',
      '1'.repeat(101),
    ].map(text => [text, null] as const),
  ])('parses %j as %j ms', (text, milliseconds) => {
    expect(parseDuration(text)).toBe(milliseconds);
  });
});

describe('similar names', () => {
  const OPERATIONS = ['edit_file', 'deploy', 'list_instances', 'rate_limited'];

  test.each([
    ['edit_fiel', ['edit_file']],
    ['EDIT_FILE', ['edit_file']],
    ['list', ['list_instances']],
    ['qqqqqqqqq', []],
  ])('%s: %j', (word, names) => {
    expect(nearest(word, OPERATIONS)).toEqual(names);
  });

  test('nearest first, three at most', () => {
    expect(nearest('tool', ['tool_four', 'tools', 'tool', 'tool_1'])).toEqual(['tool', 'tools', 'tool_1']);
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string()), (word, candidates) => {
        const found = nearest(word, candidates);
        expect(found.length).toBeLessThanOrEqual(3);
        for (const each of found) expect(candidates).toContain(each);
      }),
    );
  });

  test('as a question', () => {
    expect(didYouMean('aa', ['ab', 'ac'])).toBe('Did you mean "ab" or "ac"?');
    expect(didYouMean('qqqqqqqqq', OPERATIONS)).toBe('');
  });
});

describe('lines of bytes', () => {
  test('invalid UTF-8 affects one line only', () => {
    const bytes = Buffer.concat([Buffer.from('é\r\n\n'), Buffer.from([0xff, 0x0a]), Buffer.from('漢')]);
    expect([...byteLines(bytes)]).toEqual(['é\r', '', '(not UTF-8)', '漢']);
    expect([...byteLines(Buffer.from(''))]).toEqual([]);
  });

  function gathering(maxBytes: number) {
    const lines: string[] = [];
    const splitter = new LineSplitter(maxBytes, line => lines.push(Buffer.from(line).toString('utf8')));
    return { lines, splitter, add: (text: string) => splitter.add(Buffer.from(text)) };
  }

  test('a splitter joins the pieces of a line, and counts an unfinished line', () => {
    const { lines, splitter, add } = gathering(10);
    for (const piece of ['a', 'b\nc', '\n\nrest']) expect(add(piece)).toBe(true);
    expect([lines, splitter.rest]).toEqual([['ab', 'c', ''], 4]);
    add('\n');
    expect(lines.at(-1)).toBe('rest');
  });

  test('a line that is too long is reported, with and without its end', () => {
    expect(gathering(3).add('abc\nabc')).toBe(true);
    expect(gathering(3).add('abcd')).toBe(false);
    const { lines, add } = gathering(3);
    expect([add('ab'), add('cd\n'), lines]).toEqual([true, false, []]);
  });
});
