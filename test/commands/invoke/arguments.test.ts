import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { readArguments, typed } from '../../../src/commands/invoke/arguments.js';
import { temporaryFolder } from '../../e2e/support/folder.js';
import { errorOf, troubleOf } from '../../support/failing.js';

const SCHEMA = { properties: { n: { type: 'integer' }, s: { type: 'string' } } };
const stdin = (text = '') => Readable.from([Buffer.from(text)]);
const fromWords = async (...words: string[]) => (await readArguments({ words }, stdin()))(SCHEMA);
const fromWhole = async (whole: string, input = '') =>
  (await readArguments({ words: [], whole }, stdin(input)))(SCHEMA);

test.each([
  [[], {}],
  [['n=42', 's=42', 'other=42'], { n: 42, s: '42', other: '42' }],
  [['s='], { s: '' }],
  [['s=a=b:=c'], { s: 'a=b:=c' }],
  [['n:="42"', 's:=null'], { n: '42', s: null }],
  [['a:b=1', 'a.b-c=1'], { 'a:b': '1', 'a.b-c': '1' }],
])('words %j', async (words, args) => {
  expect(await fromWords(...words)).toEqual(args);
});

test('a file or standard input is a text, or with --args all arguments, which are not typed', async () => {
  await using folder = await temporaryFolder();
  const file = await folder.write('notes.md', '{"n": 1}\r\n日本');
  expect(await fromWords(`n=@${file}`)).toEqual({ n: '{"n": 1}\r\n日本' });
  expect((await readArguments({ words: ['s=@-'] }, stdin('from a pipe')))(null)).toEqual({
    s: 'from a pipe',
  });
  expect(await fromWhole('{"n":"42"}')).toEqual({ n: '42' });
  expect(await fromWhole('-', '{"a":1}')).toEqual({ a: 1 });
  expect(await fromWhole(`@${await folder.write('args.json', '{"a":2}')}`)).toEqual({ a: 2 });
});

test('row 19: __proto__ is an ordinary argument', async () => {
  const args = await fromWords('__proto__=x', 'constructor=y');
  expect(JSON.stringify(args)).toBe('{"__proto__":"x","constructor":"y"}');
  expect(JSON.stringify(await fromWords('__proto__:={"polluted":1}'))).toBe('{"__proto__":{"polluted":1}}');
  expect('polluted' in {}).toBe(false);
  for (const key of ['__proto__', 'constructor', 'toString'])
    expect(typed(key, '42', { properties: {} })).toBe('42');
});

test.each([
  [['edit'], /^usage: unexpected argument "edit"; use key=value$/],
  [['=x'], /^usage: unexpected argument "=x"; use key=value$/],
  [['n=1', 'n:=2'], /^usage: duplicate argument "n"$/],
  [['n:=plain'], /^usage: n:=plain: not valid JSON/],
  [['n:=1e400'], /^usage: n:=1e400: .*too large/], // row 20: not sent as null
  [['n=@/no/such/file'], /^unreadable-file: cannot read \/no\/such\/file: no such file/],
])('an error names the word: %j', async (words, trouble) => {
  expect(await troubleOf(() => fromWords(...words))).toMatch(trouble);
});

test.each([
  ['{', '', /^usage: --args: not valid JSON/],
  ['[1]', '', /^usage: --args: the arguments must be a JSON object$/],
  ['{"n":1e400}', '', /^usage: --args: .*too large/],
  ['-', '', /^usage: --args \(standard input\): not valid JSON/],
  ['@/no/such/file', '', /^unreadable-file: cannot read \/no\/such\/file/],
])('--args %s with %j', async (whole, input, trouble) => {
  expect(await troubleOf(() => fromWhole(whole, input))).toMatch(trouble);
});

test('the hint shows how to write it; --args allows no words with it', async () => {
  expect((await errorOf(() => fromWords('edit'))).hint).toMatch(/key=value, key:=json or key=@file/);
  expect((await errorOf(() => fromWords('n:=x'))).hint).toMatch(/a string needs quotes/);
  const both = () => readArguments({ words: ['a=1'], whole: '{}' }, stdin());
  expect(await troubleOf(both)).toBe('usage: --args and key=value exclude each other');
});

const $defs = { mode: { enum: [1, 2] }, 'a/b': { type: 'boolean' }, loop: { $ref: '#/$defs/loop' } };

test.each([
  [{ type: 'string' }, '42', '42'],
  [{ type: 'integer' }, '42', 42],
  [{ type: 'number' }, '1.5e3', 1_500],
  [{ type: 'boolean' }, 'true', true],
  [{ type: 'null' }, 'null', null],
  [{ type: 'array' }, '[1,"a"]', [1, 'a']],
  [{ type: 'object' }, '{"a":1}', { a: 1 }],
  // a mismatch stays a string: validation reports it
  [{ type: 'integer' }, '0x10', '0x10'],
  [{ type: 'integer' }, '007', '007'],
  [{ type: 'integer' }, '', ''],
  [{ type: 'number' }, '1e999', '1e999'],
  [{ type: 'boolean' }, 'yes', 'yes'],
  [{ type: 'array' }, '{"a":1}', '{"a":1}'],
  [{ type: 'object' }, 'null', 'null'],
  [{ type: 'unheard-of' }, '1', '1'],
  [true, '42', '42'],
  [{}, '42', '42'],
  // of several types, the most specific first
  [{ type: ['string', 'integer'] }, '42', 42],
  [{ type: ['string', 'null'] }, 'null', null],
  [{ enum: ['a', 1, true, null] }, '1', 1],
  [{ enum: ['1', '2'] }, '1', '1'],
  [{ const: 3 }, '3', 3],
  [{ type: 'string', enum: ['1'] }, '1', '1'],
  [{ oneOf: [{ type: 'null' }, { anyOf: [{ type: 'number' }] }] }, '4', 4],
  // references within the schema
  [{ $ref: '#/$defs/mode' }, '2', 2],
  [{ allOf: [{ $ref: '#/$defs/a~1b' }] }, 'true', true],
  [{ $ref: '#/$defs/loop' }, '2', '2'],
  [{ $ref: '#/$defs/constructor/name' }, '2', '2'],
  [{ $ref: 'http://127.0.0.1:1/schema' }, '2', '2'],
])('the schema %j converts %j to its type', (property, text, value) => {
  expect(typed('key', text, { $defs, properties: { key: property } })).toEqual(value);
});

test('row 22: repeated references are followed once', () => {
  const key = { anyOf: Array.from({ length: 25 }, () => ({ $ref: '#/properties/key' })) };
  const start = performance.now();
  expect(typed('key', '2', { properties: { key } })).toBe('2');
  expect(performance.now() - start).toBeLessThan(500);
});
