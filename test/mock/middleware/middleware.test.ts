import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Middlewares } from '../../../src/mock/middleware.js';
import type { Invocation } from '../../../src/protocol/invocation.js';
import { anyCharacter } from '../../support/characters.js';
import { deepFreeze } from '../../support/deep-freeze.js';

const KEYS = ['authorization', 'api_key', 'password', 'secret', 'token'];

type Settings = ConstructorParameters<typeof Middlewares>[0];

const middlewares = (options: Partial<Settings> = {}) =>
  new Middlewares({ redact: KEYS, sanitize: true, audit: true, ...options });

const calledWith = (args: unknown) =>
  ({ operation: 'op', arguments: args, id: 'i', group_id: 'g', callback_url: '' }) as Invocation;

function shape(value: unknown, args: unknown = {}, options: Partial<Settings> = {}) {
  return middlewares(options).response(deepFreeze(value), calledWith(deepFreeze(args)));
}

/** As it goes over the wire. */
const wire = async (value: unknown, args?: unknown, options?: Partial<Settings>) =>
  JSON.parse(JSON.stringify((await shape(value, args, options)).value));

const R = '[redacted]';

describe('TOOL-SECRET: values of secret keys', () => {
  test.each([
    ['a text', { password: 'hunter2' }, { password: R }],
    ['a number', { token: 7 }, { token: R }],
    ['an object', { secret: { a: ['b'] } }, { secret: R }],
    ['null', { apiKey: null }, { apiKey: R }],
    ['deep inside', [{ a: [{ 'API-KEY': 'x' }] }], [{ a: [{ 'API-KEY': R }] }]],
    ['an already redacted value', { token: R, a: R }, { token: R, a: R }],
  ])('%s', async (_, value, expected) => {
    expect(await wire(value)).toEqual(expected);
  });
});

describe('TOOL-SECRET: the same values elsewhere', () => {
  test.each([
    ['in a text', { token: 's3cret', note: 'it is s3cret!' }, 'note', `it is ${R}!`],
    ['before the key', { note: 's3crets3cret', token: 's3cret' }, 'note', `${R}${R}`],
    ['in a list', { token: 's3cret', note: ['s3cret'] }, 'note', [R]],
    ['as a key', { token: 's3cret', note: { 'my-s3cret': 1 } }, 'note', { [`my-${R}`]: 1 }],
    ['a number in a text', { password: 12_345, note: 'PIN 12345' }, 'note', `PIN ${R}`],
    ['a number as a number', { password: 12_345, note: [12_345, 12_346] }, 'note', [R, 12_346]],
    ['below a secret key', { secret: { a: ['deeper'] }, note: 'deeper' }, 'note', R],
    ['without its scheme', { authorization: 'Bearer abc.def', note: 'abc.def' }, 'note', R],
    ['in JSON', { token: 'a"bcd', note: '{"x":"a\\"bcd"}' }, 'note', `{"x":"${R}"}`],
    ['in a URL', { token: 'a/b c', note: 'http://x/?t=a%2Fb%20c' }, 'note', `http://x/?t=${R}`],
    ['in base64', { token: 'hunter2', note: 'aHVudGVyMg==' }, 'note', `${R}==`],
    ['with control characters inside', { token: 'hunter2', note: 'hun\u0000ter2' }, 'note', R],
    ['a secret with control characters', { token: 'hun\u0000ter2', note: 'hun\u0000ter2' }, 'note', R],
    ['not a value of three characters', { token: 'abc', note: 'abc' }, 'note', 'abc'],
  ])('%s', async (_, value, key, expected) => {
    expect((await wire(value))[key]).toEqual(expected);
  });

  test('also of the arguments: tools often echo secrets', async () => {
    const args = { login: { password: 'hunter2' }, path: 'visible' };
    expect(await shape('you said hunter2 for visible', args)).toEqual({
      value: `you said ${R} for visible`,
      changes: [{ path: '$', change: 'redacted' }],
    });
    expect(await wire({ said: ['hunter2'] }, args)).toEqual({ said: [R] });
  });

  test('a single text has no keys, so nothing in it is known to be a secret', async () => {
    expect(await wire('password: hunter2')).toBe('password: hunter2');
    expect(await wire('{"password":"hunter2"}')).toBe('{"password":"hunter2"}');
  });

  test('no secret is sent, in any structure', async () => {
    const secret = fc.string({ unit: fc.constantFrom(...'XYZ'), minLength: 4, maxLength: 6 });
    const text = fc.string({ unit: fc.constantFrom(...'XYZ'), maxLength: 12 });
    const value = fc.dictionary(text, fc.oneof(text, fc.array(text), fc.dictionary(text, text)));
    await fc.assert(
      fc.asyncProperty(secret, secret, value, async (one, two, rest) => {
        const out = JSON.stringify((await shape({ ...rest, token: one }, { password: two })).value);
        expect(out).not.toContain(one);
        expect(out).not.toContain(two);
      }),
    );
  });
});

describe('control characters', () => {
  test.each([
    ['C0', 'a\u0000\u001b[31mb', 'a[31mb'],
    ['a carriage return', 'a\r\nb', 'a\nb'],
    ['DEL and C1', 'a\u007f\u0080\u009fb', 'ab'],
    ['not line feeds and tabs', 'a\n\tb', 'a\n\tb'],
    ['not other invisible characters', 'a\u200b\u202eb\ud800', 'a\u200b\u202eb\ud800'],
  ])('%s', async (_, text, expected) => {
    expect(await wire([text])).toEqual([expected]);
    expect(await wire({ [text]: 1 })).toEqual({ [expected]: 1 });
  });

  test('none is sent, and nothing else is lost', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: anyCharacter }), async text => {
        expect((await shape(text, {}, { redact: [] })).value).toBe(
          [...text].filter(each => each === '\n' || each === '\t' || !/\p{Cc}/u.test(each)).join(''),
        );
      }),
    );
  });
});

describe('configuration', () => {
  test.each(['api_key', 'apiKey', 'api-key', 'API_KEY', 'api key', 'api.key', 'api\u200b\u0000key'])(
    '%j matches api_key',
    async key => {
      expect(Object.values(await wire({ [key]: 'abcd' }, {}, { redact: ['api_key'] }))).toEqual([R]);
      expect(await wire({ api_key: 'abcd' }, {}, { redact: [key, '', '-'] })).toEqual({ api_key: R });
    },
  );

  test.each(['key', 'api', 'api_keys', 'my_api_key', '', '_', 'constructor'])(
    '%j does not match',
    async key => {
      expect(await wire({ [key]: 'abcd' }, {}, { redact: ['api_key', '', '-'] })).toEqual({ [key]: 'abcd' });
    },
  );
});

describe('list of changes', () => {
  test('contains the path in the sent message', async () => {
    const value = { token: 's3cret', list: ['a\u0000s3cret'], 's3cret\u0007': { b: 's3cret' } };
    expect((await shape(value)).changes).toEqual([
      { path: '$.token', change: 'redacted' },
      { path: '$.list[0]', change: 'sanitized' },
      { path: '$.list[0]', change: 'redacted' },
      { path: '$["[redacted]"]', change: 'sanitized' },
      { path: '$["[redacted]"]', change: 'redacted' },
      { path: '$["[redacted]"].b', change: 'redacted' },
    ]);
  });

  test('is empty without changes, and the same value is returned', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 4, stringUnit: 'grapheme-ascii' }), async value => {
        expect(await shape(value, value)).toEqual({ value, changes: [] });
        expect((await shape(value, value)).value).toBe(value);
      }),
    );
  });

  test('is empty for a value that was processed before', async () => {
    const value = fc.object({ key: fc.constantFrom('token', 'a', 'b\u0000'), values: [fc.string()] });
    await fc.assert(
      fc.asyncProperty(value, async some => {
        const once = (await shape(some)).value;
        expect(await shape(once)).toEqual({ value: once, changes: [] });
      }),
    );
  });
});

describe('unusual values', () => {
  test('row 19: __proto__ is an ordinary key', async () => {
    const value = JSON.parse('{"__proto__":{"token":"s3cret"},"constructor":"s3cret","toString":1}');
    expect(JSON.stringify((await shape(value)).value)).toBe(
      '{"__proto__":{"token":"[redacted]"},"constructor":"[redacted]","toString":1}',
    );
    expect(Object.prototype).not.toHaveProperty('token');
  });

  const nested = (levels: number) => {
    let value: unknown = 's3cret\u0000';
    for (let level = 0; level < levels; level++) value = [value];
    return value;
  };

  test('row 18: at most 128 levels, also for a value that contains itself', async () => {
    expect((await shape(nested(128))).changes).toHaveLength(1);
    await expect(shape(nested(129))).rejects.toThrow(/deeper than 128 levels/);
    const ring: unknown[] = [];
    ring.push({ ring });
    await expect(middlewares().response(ring, calledWith({}))).rejects.toThrow(RangeError);
  });

  test('values are read as JSON writes them', async () => {
    const at = new Date(0);
    expect(await wire({ at, token: 's3cret' })).toEqual({ at: '1970-01-01T00:00:00.000Z', token: R });
    expect(await wire({ held: { toJSON: () => ({ token: 's3cret' }) } })).toEqual({ held: { token: R } });
    expect((await shape({ at })).value).toEqual({ at });
  });

  test.each([undefined, null, true, 1, Number.NaN])('%s stays unchanged', async value => {
    expect(await shape(value, value)).toEqual({ value, changes: [] });
  });
});

describe("TOOL-SECRET: a caller's input cannot turn redaction off", () => {
  const huge = 'x'.repeat(1_100_000);

  test.each<[string, unknown]>([
    ['a huge secret', { token: huge }],
    ['secrets that exceed the limit', { token: huge.slice(0, 1024 * 1024) }],
    ['many', { token: Array.from({ length: 3 }, (_, index) => `${index}${huge.slice(0, 400_000)}`) }],
  ])('%s', async (_, args) => {
    expect(await wire({ password: 'hunter2', note: 'hunter2, aHVudGVyMg==' }, args)).toEqual({
      password: R,
      note: `${R}, ${R}==`,
    });
  });

  test('a text that takes long to search is redacted as a whole', async () => {
    const token = Array.from({ length: 250 }, (_, n) => `${'a'.repeat(n + 4)}b`);
    expect(await wire({ text: 'a'.repeat(1_000_000), note: 'aaaab' }, { token })).toEqual({
      text: R,
      note: R,
    });
  });
});

describe('many secrets are searched for in one pass', () => {
  const replaced = async (words: readonly string[], text: string) =>
    String(await wire(text, { token: words })).replaceAll(R, '*');

  test.each([
    ['one that starts like another', ['abcd', 'abcd1234'], 'abcd1234 abcd12', '* *12'],
    ['overlapping ones as one match', ['abcd', 'cdef'], 'xabcdefx', 'x*x'],
    ['one that repeats itself', ['aabab'], 'aaababa', 'a*a'],
    ['beyond the basic plane', ['😀😁'], 'x😀😁😀', 'x*😀'],
  ])('%s', async (_, words, text, expected) => {
    expect(await replaced(words, text)).toBe(expected);
    const others = Array.from({ length: 40 }, (_, n) => `other${n}`); // enough for one pass
    expect(await replaced([...words, ...others], text)).toBe(expected);
  });

  test('every secret and nothing else is replaced', async () => {
    const letters = fc.constantFrom(...'ab');
    const words = fc.array(fc.string({ unit: letters, minLength: 4, maxLength: 7 }), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(words, fc.string({ unit: letters, maxLength: 40 }), async (some, text) => {
        expect(await replaced(some, text)).toBe(plainly(some, text));
      }),
    );
  });

  test.each([
    ['ten thousand, that share a start', Array.from({ length: 10_000 }, (_, n) => `aaaa${n}b`), 100_000],
    ['a long one with near matches everywhere', [`b${'a'.repeat(200_000)}`], 1_000_000],
  ])('%s', async (_, words, length) => {
    const text = 'a'.repeat(length); // one by one it would be minutes or hours
    expect(await replaced(words, text + (words[77] ?? ''))).toBe(text + (words[77] ? '*' : ''));
  });
});

/** The same, one word and one place after the other. */
function plainly(words: readonly string[], text: string): string {
  const covered = new Set<number>();
  const joined = new Set<number>(); // to what is before it, by a word that holds both
  for (const word of words)
    for (let from = text.indexOf(word); from >= 0; from = text.indexOf(word, from + 1))
      for (let at = from; at < from + word.length; at++) {
        covered.add(at);
        if (at > from) joined.add(at);
      }
  const written = (letter: string, at: number) => (covered.has(at) ? (joined.has(at) ? '' : '*') : letter);
  return [...text].map(written).join('');
}
