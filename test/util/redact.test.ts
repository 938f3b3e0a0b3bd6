import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { redactHeaders } from '../../src/util/headers.js';
import { createRedactor, REDACTED, redactSpans } from '../../src/util/redact.js';
import { redactJson } from '../../src/util/redact-json.js';
import { safeJson, safeSource } from '../../src/util/safe-json.js';
import { SecretFinder } from '../../src/util/secret-finder.js';
import { anyCodePoint } from '../support/characters.js';
import { expectCpuBelow, LINEAR, slowdown } from '../support/cpu-ms.js';

const textWithout = (finder: SecretFinder, text: string) => redactSpans(text, finder.find(text));

const OTHERS = Array.from({ length: 100 }, (_, n) => `other-${n}`);

describe('row 25: redacts a secret in every encoding', () => {
  const SECRET = 'tö"k/en\\?>~ 1';
  const json = JSON.stringify(SECRET).slice(1, -1);
  const percent = encodeURIComponent(SECRET);
  const lowered = percent.replaceAll(/%../g, code => code.toLowerCase());
  const everyByte = (text: string) => Buffer.from(text).toString('hex').replace(/../g, '%$&');

  test.each([
    ['unchanged', SECRET],
    ['in JSON', json],
    ['in JSON with escaped slashes', json.replaceAll('/', '\\/')],
    ['percent-encoded', percent],
    ['percent-encoded, in lower case', lowered],
    ['in JSON in JSON', JSON.stringify(json).slice(1, -1)],
    ['in hex', Buffer.from(SECRET).toString('hex')],
    ['in hex, in upper case', Buffer.from(SECRET).toString('hex').toUpperCase()],
    ['with every byte percent-encoded', everyByte(SECRET)],
    ['with every byte percent-encoded, in upper case', everyByte(SECRET).toUpperCase()],
  ])('%s', (_, form) => {
    expect(createRedactor([SECRET]).text(`<${form}>`)).toBe('<[redacted]>');
  });

  test.each(['base64', 'base64url'] as const)('in %s, at each offset', encoding => {
    for (const before of ['', 'a', 'ab', 'user:', 'name:'])
      for (const after of ['', 'z', 'zz', 'zzz']) {
        const clean = createRedactor([SECRET]).text(Buffer.from(before + SECRET + after).toString(encoding));
        const [start = '', end = '', ...others] = clean.split(REDACTED);
        expect(others).toEqual([]);
        // A character at each end may contain bits of both sides.
        expect(Buffer.from(start, 'base64').toString()).toBe(before);
        expect(end.replace(/=+$/, '').length).toBeLessThan(2 + (4 * after.length) / 3);
      }
  });

  test('within another word only if it is encoded', () => {
    const finder = new SecretFinder({ wholeBelow: 100 });
    finder.add('s3cret-token');
    expect(textWithout(finder, 'xs3cret-token s3cret-token')).toBe(`xs3cret-token ${REDACTED}`);
    expect(textWithout(finder, Buffer.from('user:s3cret-token').toString('hex'))).toMatch(
      /^757365723a\[redacted\]$/,
    );
  });

  test('in JSON that a JSON text quotes, and in what is left of it', () => {
    const nested = JSON.stringify({ text: JSON.stringify({ text: JSON.stringify({ key: SECRET }) }) });
    for (const others of [[], OTHERS]) {
      const redactor = createRedactor([SECRET, ...others]);
      expect(redactJson(nested, redactor)).toBe(
        JSON.stringify({ text: JSON.stringify({ text: JSON.stringify({ key: REDACTED }) }) }),
      );
      expect(redactor.text(nested.slice(0, -1))).not.toContain('en');
    }
  });

  test.each([10, 200])('a large body is searched for %s secrets in linear time', async count => {
    const redactor = createRedactor(Array.from({ length: count }, (_, n) => `s3cret-${n}-${'x'.repeat(30)}`));
    const search = (size: number) => redactor.text('the quick brown fox '.repeat(size));
    expect(await slowdown(200_000, search)).toBeLessThan(LINEAR);
  });

  test('replaces every occurrence', () => {
    expect(createRedactor(['s3cret']).text('s3cret, s3crets3cret')).toBe(
      `${REDACTED}, ${REDACTED}${REDACTED}`,
    );
  });

  test('thousands of secrets cost no more than a few', async () => {
    const secrets = Array.from({ length: 4_000 }, (_, n) => `token-${n}-${'x'.repeat(30)}`);
    const redactor = createRedactor(secrets);
    await expectCpuBelow(10_000, () => {
      for (const secret of secrets)
        expect(redactor.text(`{"callback_url":"http://h/${secret}"}`)).toBe(
          `{"callback_url":"http://h/${REDACTED}"}`,
        );
    });
  });

  test('row 15: one secret may occur very often', () => {
    const redactor = createRedactor(['s3cret-token']);
    expect(redactor.text('s3cret-token'.repeat(200_000))).toBe(REDACTED.repeat(200_000));
  });

  test('row 15: hostile secrets cost little for each character of a text', async () => {
    const long = Array.from({ length: 9 }, (_, n) => `${'a'.repeat(40 + n)}b`);
    const escaped = new SecretFinder({ wholeBelow: 16 });
    for (const secret of ['\\\\\\\\', '\\\\\\\\pass', ...OTHERS]) escaped.add(secret);
    await expectCpuBelow(2_000, () => {
      createRedactor(long).text('a'.repeat(1_000_000));
      textWithout(escaped, '\\'.repeat(200_000));
    });
  });

  test('no secret is left, for any set of secrets', () => {
    const secret = fc.string({ unit: fc.constantFrom(...'XYZ'), minLength: 4, maxLength: 9 });
    fc.assert(
      fc.property(fc.array(secret), fc.array(secret), (secrets, words) => {
        const redactor = createRedactor(secrets);
        const clean = redactor.text([...secrets, ...words].join('-'));
        for (const each of secrets) expect(clean).not.toContain(each);
      }),
    );
  });

  test('a secret that is added later applies from then on', () => {
    const redactor = createRedactor();
    expect(redactor.text('later')).toBe('later');
    redactor.add('later');
    expect(redactor.text('later')).toBe(REDACTED);
  });
});

test('without secrets a text is unchanged', () => {
  fc.assert(fc.property(fc.string(), text => createRedactor().text(text) === text));
});

test('row 25: headers are filtered by an allow-list, ignoring case', () => {
  expect(
    redactHeaders({
      'Content-Type': 'application/json',
      authorization: 'Bearer x',
      'x-api-key': '1',
      Cookie: 'a',
    }),
  ).toEqual({
    'Content-Type': 'application/json',
    authorization: REDACTED,
    'x-api-key': REDACTED,
    Cookie: REDACTED,
  });
});

test('row 25: no allowed header contains a secret', () => {
  const headers = redactHeaders({ 'content-type': 'text/s3cret' }, createRedactor(['s3cret']));
  expect(headers).toEqual({ 'content-type': `text/${REDACTED}` });
});

describe('with few and with many secrets, replaces', () => {
  test.each([
    ['each secret', 'a bcde fghi bcde', ['fghi', 'bcde'], 'a * * *'],
    ['the longest that starts at a position', 'abcdef', ['abcd', 'abcdef'], '*'],
    ['overlapping secrets as one', '<abcdefgh>', ['abcdef', 'efgh'], '<*>'],
    ['adjacent secrets', 'abcdabcd', ['abcd'], '**'],
    ['no part of a secret', 'abcd', ['abcde'], 'abcd'],
    ['no secret of three characters', 'abc', ['abc'], 'abc'],
  ])('%s', (_, text, secrets, clean) => {
    for (const others of [[], OTHERS])
      expect(
        createRedactor([...secrets, ...others])
          .text(text)
          .replaceAll(REDACTED, '*'),
      ).toBe(clean);
  });
});

test('row 25: redacts secrets in keys and values', () => {
  const source = '{"secret-1":"a secret-1 b","n":[1,"secret-1"]}';
  expect(redactJson(source, createRedactor(['secret-1']))).toBe(
    `{"${REDACTED}":"a ${REDACTED} b","n":[1,"${REDACTED}"]}`,
  );
});

test.each(['null', 'true', 'false', '1234'])(
  'a secret equal to %s leaves the rest of the JSON unchanged',
  secret => {
    const source = '{"a":null,"b":[true,false,1234],"c":"null true false 1234"}';
    const clean = redactJson(source, createRedactor([secret]));
    expect(JSON.parse(clean)).toEqual({
      a: null,
      b: [true, false, 1234],
      c: expect.stringContaining(REDACTED),
    });
  },
);

test('JSON stays JSON for any secrets', () => {
  fc.assert(
    fc.property(fc.json(), fc.array(fc.string({ minLength: 4 })), (source, secrets) => {
      expect(() => JSON.parse(redactJson(source, createRedactor(secrets)))).not.toThrow();
    }),
  );
});

test('row 25: finds a secret after escapes, and splits none of them', () => {
  const redactor = createRedactor(['u001bsecret', 'n-secret']);
  const source = '{"a":"\\u001bsecret \\u0075001bsecret","b":"\\n-secret n-secret","c":"\\u001b"}';
  expect(redactJson(source, redactor)).toBe(
    `{"a":"\\u001bsecret ${REDACTED}","b":"\\n-secret ${REDACTED}","c":"\\u001b"}`,
  );
});

test('row 15: a long text is redacted like a short one, and is read about once', () => {
  const secret = 'secret-1';
  const members = Array.from({ length: 50_000 }, (_, n) => `"key-${n}":"${n === 40_000 ? secret : n}"`);
  const source = `{${members.join(',')},"${secret}":"\\u0073ecret-1"}`;
  const { text } = createRedactor([secret]);
  let read = 0;
  const counted = (each: string) => {
    read += each.length;
    return text(each);
  };
  const clean = redactJson(source, { add: () => {}, text: counted });
  expect(JSON.parse(clean)).toEqual({
    ...Object.fromEntries(
      Array.from({ length: 50_000 }, (_, n) => [`key-${n}`, n === 40_000 ? REDACTED : String(n)]),
    ),
    [REDACTED]: REDACTED,
  });
  expect(read).toBeLessThan(1.2 * source.length);
});

const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
const foreign = fc.oneof(
  fc.string({ unit: anyCodePoint }),
  fc.constantFrom(
    '\u001b]0;x\u0007',
    '\u009b',
    '\u007f',
    '\u202e',
    '\u200b',
    '\ud800',
    '\u{e0041}',
    '\u2028',
  ),
);
const value = fc.letrec<{ value: unknown }>(tie => ({
  value: fc.oneof(
    { depthSize: 'small' },
    foreign,
    fc.jsonValue(),
    fc.array(tie('value')),
    fc.dictionary(foreign, tie('value')),
  ),
})).value;

test('row 20: parses to the same value', () => {
  fc.assert(
    fc.property(value, fc.constantFrom(undefined, 2), (given, indent) => {
      expect(JSON.parse(safeJson(given, indent))).toEqual(JSON.parse(JSON.stringify(given)));
    }),
  );
});

test('row 24: escapes everything invisible except the line feeds of the indent', () => {
  fc.assert(
    fc.property(value, given => {
      expect(safeJson(given)).not.toMatch(UNSEEN);
      expect(safeJson(given, 2).replaceAll('\n', '')).not.toMatch(UNSEEN);
    }),
  );
});

test.each([
  ['\u009b2J', '"\\u009b2J"'],
  ['\u202e', '"\\u202e"'],
  ['\u{e0041}', '"\\udb40\\udc41"'],
  ['ä 日本 😀', '"ä 日本 😀"'],
])('%j', (text, json) => {
  expect(safeJson(text)).toBe(json);
});

test('escapes the workflow commands of CI systems', () => {
  for (const text of ['##[error]x', '##vso[x]', '##teamcity[x]']) {
    const json = safeJson({ [text]: text });
    expect(json).not.toContain(text);
    expect(JSON.parse(json)).toEqual({ [text]: text });
    expect(safeSource(`["${text}"]`)).not.toContain(text);
  }
});
