import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LANGUAGES } from '../../../src/display/syntax.js';
import { lexerOf } from '../../../src/display/syntax-lexers.js';
import { anyCodePoint } from '../../support/characters.js';

const rolesIn = (language: string, text: string) =>
  Object.fromEntries(
    lexerOf(language)(text).flatMap(({ text: piece, role }) => (role === null ? [] : [[piece, role]])),
  );

test.each([
  [
    'typescript',
    'const n: string = "a"; // why',
    { const: 'keyword', string: 'type', '"a"': 'string', '// why': 'comment' },
  ],
  ['rust', 'fn main() { let x = 42; }', { fn: 'keyword', main: 'function', let: 'keyword', '42': 'number' }],
  ['python', 'class A:\n  """why"""', { class: 'keyword', A: 'type', '"""why"""': 'string' }],
  ['json', '{"a": 1}', { '"a"': 'name', '1': 'number' }],
  ['xml', '<a href="x">', { a: 'keyword', href: 'name', '"x"': 'string' }],
])('%s: %s', (language, text, roles) => {
  expect(rolesIn(language, text)).toMatchObject(roles);
});

test('the tokens make up the text, whatever it is', () => {
  const code = fc.array(
    fc.oneof(
      fc.constantFrom('/*', '"', '`${', '<a ', '\n', '//', '#', 'x', ' ', '😀'),
      fc.string({ unit: anyCodePoint, maxLength: 3 }),
    ),
    { maxLength: 30 },
  );
  fc.assert(
    fc.property(fc.constantFrom(...Object.keys(LANGUAGES)), code, (language, pieces) => {
      const text = pieces.join('');
      const tokens = lexerOf(language)(text);
      expect(tokens.map(token => token.text).join('')).toBe(text);
    }),
    { numRuns: 40 },
  );
});
