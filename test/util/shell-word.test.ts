import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { hasForeignQuotes, shellWord } from '../../src/util/shell-word.js';

test.each([
  ['path=src/main.rs', 'path=src/main.rs', 'path=src/main.rs'],
  ['', "''", '""'],
  ['a b', "'a b'", '"a b"'],
  ["it's", `'it'\\''s'`, `"it's"`],
  ['a & b', "'a & b'", '"a & b"'],
  ['C:\\my files\\', "'C:\\my files\\'", '"C:\\my files\\\\"'],
  ['{"a": 1}', `'{"a": 1}'`, '^"{\\^"a\\^": 1}^"'],
  ['x\\"y', `'x\\"y'`, '^"x\\\\\\^"y^"'],
  ['50%', "'50%'", '^"50^%^"'],
])('%s is a word for a POSIX shell and for cmd', (text, posix, cmd) => {
  expect(shellWord(text, 'linux')).toBe(posix);
  expect(shellWord(text, 'darwin')).toBe(posix);
  expect(shellWord(text, 'win32')).toBe(cmd);
});

test('a POSIX shell reads a word as it was', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), text => {
      fc.pre(!text.includes('\0'));
      const read = execFileSync('sh', ['-c', `printf %s ${shellWord(text, 'linux')}`], { encoding: 'utf8' });
      expect(read).toBe(text);
    }),
    { numRuns: 30 },
  );
});

test.each<[readonly string[], NodeJS.Platform, boolean]>([
  [['invoke', '--command', "'node", "server.mjs'"], 'win32', true],
  [["text='a", "b'"], 'win32', true],
  [["'a'"], 'win32', true],
  [['text=dogs', "it's"], 'win32', false],
  [["'node", "server.mjs'"], 'linux', false],
])('%j on %s has single quotes that its shell does not know: %s', (words, platform, has) => {
  expect(hasForeignQuotes(words, platform)).toBe(has);
});
