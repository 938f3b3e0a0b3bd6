import { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { readArguments, typed } from '../../../src/commands/invoke/arguments.js';
import { expectCpuBelow } from '../../support/cpu-ms.js';
import { troubleOf } from '../../support/failing.js';

const SCHEMA = { properties: { n: { type: 'integer' }, s: { type: 'string' } } };
const stdin = () => Readable.from([]);
const fromWords = async (...words: string[]) => (await readArguments({ words }, stdin()))(SCHEMA);

test('row 19: __proto__ is an ordinary argument', async () => {
  const args = await fromWords('__proto__=x', 'constructor=y');
  expect(JSON.stringify(args)).toBe('{"__proto__":"x","constructor":"y"}');
  expect(JSON.stringify(await fromWords('__proto__:={"polluted":1}'))).toBe('{"__proto__":{"polluted":1}}');
  expect('polluted' in {}).toBe(false);
  for (const key of ['__proto__', 'constructor', 'toString'])
    expect(typed(key, '42', { properties: {} })).toBe('42');
});

test.each([
  [['=x'], undefined, /^usage: unexpected argument "=x"; use key=value$/],
  [['n:=1e400'], undefined, /^usage: n:=1e400: .*too large/], // row 20: not sent as null
  [[], '[1]', /^usage: --args: the arguments must be a JSON object$/],
  [[], '{"n":1e400}', /^usage: --args: .*too large/],
])('an error names the word: %j, --args %j', async (words, whole, trouble) => {
  expect(await troubleOf(() => readArguments({ words, whole }, stdin()))).toMatch(trouble);
});

const $defs = { mode: { enum: [1, 2] }, 'a/b': { type: 'boolean' }, loop: { $ref: '#/$defs/loop' } };

test.each([
  [{ type: 'string' }, '42', '42'],
  [{ type: 'number' }, '1.5e3', 1_500],
  // a mismatch stays a string: validation reports it
  [{ type: 'integer' }, '0x10', '0x10'],
  [{ type: 'integer' }, '007', '007'],
  [{ type: 'integer' }, '', ''],
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

test.each([
  [{ type: 'integer' }, '9007199254740993', /key: the number 9007199254740993 cannot be held exactly/],
  [{ type: 'number' }, '1e999', /key: the number 1e999 is too large/],
  [{ type: 'array' }, '[9007199254740993]', /key: the number 9007199254740993 cannot be held exactly/],
  [{ type: 'object' }, '{"a":1,"a":2}', /key: the key "a" occurs twice/],
])('what would change is refused: %j, %j', (property, text, trouble) => {
  expect(() => typed('key', text, { properties: { key: property } })).toThrow(trouble);
});

test.each([
  [{ type: ['integer', 'string'] }, '9007199254740993', '9007199254740993'],
  [{ type: 'string' }, '9007199254740993', '9007199254740993'],
  [{}, '9007199254740993', '9007199254740993'],
  [{ type: 'integer' }, '9007199254740994', 9_007_199_254_740_994],
])('a large number that can be held, or sent as a string, is sent: %j, %j', (property, text, value) => {
  expect(typed('key', text, { properties: { key: property } })).toBe(value);
});

test('a long chain of references is followed to its end', () => {
  const length = 20_000;
  const links = Array.from({ length }, (_, at) => [`a${at}`, { $ref: `#/$defs/a${at + 1}` }]);
  const chained = { ...Object.fromEntries(links), [`a${length}`]: { type: 'number' } };
  expect(typed('key', '2', { $defs: chained, properties: { key: { $ref: '#/$defs/a0' } } })).toBe(2);
});

test('row 22: repeated references are followed once', async () => {
  const key = { anyOf: Array.from({ length: 25 }, () => ({ $ref: '#/properties/key' })) };
  await expectCpuBelow(500, () => expect(typed('key', '2', { properties: { key } })).toBe('2'));
});
