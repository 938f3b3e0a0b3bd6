import { common } from 'lowlight';
import { expect, test } from 'vitest';
import { LANGUAGES, languageOf } from '../../../src/display/syntax.js';

test.each([
  ['src/main.rs', 'rust'],
  ['a/b.test.ts', 'typescript'],
  ['C:\\work\\x.PY', 'python'],
  ['Makefile', 'makefile'],
  ['.bashrc', 'bash'],
  ['x.unknown', undefined],
  ['README', undefined],
  ['__proto__', undefined],
  ['dir.rs/plain', undefined],
  ['', undefined],
])('%j is in %s', (path, language) => {
  expect(languageOf(path)).toBe(language);
});

test('each is a language that there is a grammar for', () => {
  expect(Object.keys(common)).toEqual(expect.arrayContaining(Object.keys(LANGUAGES)));
});
