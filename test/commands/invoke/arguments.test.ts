import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readArguments } from '../../../src/commands/invoke/arguments.js';
import { errorOf, troubleOf } from '../../support/failing.js';

const SCHEMA = { properties: { n: { type: 'integer' }, s: { type: 'string' } } };
const stdin = (text = '') => Readable.from([Buffer.from(text)]);
const fromWords = (...words: string[]) => readArguments({ words }, SCHEMA, stdin());
const fromWhole = (whole: string, input = '') => readArguments({ words: [], whole }, SCHEMA, stdin(input));

let folder: string;
let file: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'arguments-'));
  file = join(folder, 'notes.md');
  await writeFile(file, '{"n": 1}\r\n日本');
});
afterAll(() => rm(folder, { recursive: true }));

describe('words', () => {
  test.each([
    [[], {}],
    [['n=42', 's=42'], { n: 42, s: '42' }],
    [['other=42'], { other: '42' }],
    [['s='], { s: '' }],
    [['s=a=b:=c'], { s: 'a=b:=c' }],
    [['n:="42"', 's:=null'], { n: '42', s: null }],
    [['labels:={"a":[1]}'], { labels: { a: [1] } }],
    [['a:b=1'], { 'a:b': '1' }],
    [['a.b-c=1'], { 'a.b-c': '1' }],
  ])('%j', async (words, args) => {
    expect(await fromWords(...words)).toEqual(args);
  });

  test("key=@file is a file's text, as it is", async () => {
    expect(await fromWords(`n=@${file}`)).toEqual({ n: '{"n": 1}\r\n日本' });
    expect(await readArguments({ words: ['s=@-'] }, null, stdin('from a pipe'))).toEqual({
      s: 'from a pipe',
    });
  });

  test('row 19: __proto__ is an argument like any other', async () => {
    const args = await fromWords('__proto__=x', 'constructor=y');
    expect(JSON.stringify(args)).toBe('{"__proto__":"x","constructor":"y"}');
    expect(JSON.stringify(await fromWords('__proto__:={"polluted":1}'))).toBe('{"__proto__":{"polluted":1}}');
    expect('polluted' in {}).toBe(false);
  });
});

describe('a fault names the word', () => {
  test.each([
    [['edit'], 'usage: unexpected argument "edit"; use key=value'],
    [['=x'], 'usage: unexpected argument "=x"; use key=value'],
    [[':=1'], 'usage: unexpected argument ":=1"; use key=value'],
    [['n=1', 'n:=2'], 'usage: duplicate argument "n"'],
    [['n:={'], /^usage: n:={: not valid JSON/],
    [['n:=plain'], /^usage: n:=plain: not valid JSON/],
    [['n=@/no/such/file'], /^unreadable-file: cannot read \/no\/such\/file: ENOENT/],
  ])('%j', async (words, trouble) => {
    const told = await troubleOf(() => fromWords(...words));
    if (typeof trouble === 'string') expect(told).toBe(trouble);
    else expect(told).toMatch(trouble);
  });

  test('row 20: a number that cannot be held is reported, not sent as null', async () => {
    expect(await troubleOf(() => fromWords('n:=1e400'))).toMatch(/^usage: n:=1e400: .*too large/);
    expect(await troubleOf(() => fromWhole('{"n":1e400}'))).toMatch(/^usage: --args: .*too large/);
  });

  test('the hint says how it is written', async () => {
    expect((await errorOf(() => fromWords('edit'))).hint).toMatch(/key=value, key:=json or key=@file/);
    expect((await errorOf(() => fromWords('n:=x'))).hint).toMatch(/a string needs quotes/);
  });
});

describe('--args: all at once', () => {
  test('JSON, @file, or standard input; nothing is typed', async () => {
    expect(await fromWhole('{"n":"42"}')).toEqual({ n: '42' });
    expect(await fromWhole('-', '{"a":1}')).toEqual({ a: 1 });
    const path = join(folder, 'args.json');
    await writeFile(path, '{"a":2}');
    expect(await fromWhole(`@${path}`)).toEqual({ a: 2 });
  });

  test.each([
    ['{', '', /^usage: --args: not valid JSON/],
    ['[1]', '', /^usage: --args: the arguments must be a JSON object$/],
    ['null', '', /^usage: --args: the arguments must be a JSON object$/],
    ['-', 'x', /^usage: --args \(standard input\): not valid JSON/],
    ['-', '', /^usage: --args \(standard input\): not valid JSON/],
    ['@/no/such/file', '', /^unreadable-file: cannot read \/no\/such\/file/],
  ])('%s with %j', async (whole, input, trouble) => {
    expect(await troubleOf(() => fromWhole(whole, input))).toMatch(trouble);
  });

  test('not together with words', async () => {
    const both = () => readArguments({ words: ['a=1'], whole: '{}' }, null, stdin());
    expect(await troubleOf(both)).toBe('usage: --args and key=value exclude each other');
  });
});
