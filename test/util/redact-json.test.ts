import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRedactor, REDACTED } from '../../src/util/redact.js';
import { redactJson } from '../../src/util/redact-json.js';

test('row 25: secrets go out of keys and values', () => {
  const source = '{"secret-1":"a secret-1 b","n":[1,"secret-1"]}';
  expect(redactJson(source, createRedactor(['secret-1']))).toBe(
    `{"${REDACTED}":"a ${REDACTED} b","n":[1,"${REDACTED}"]}`,
  );
});

test.each(['null', 'true', 'false', '1234'])(
  'a secret that reads %s leaves the JSON as it is elsewhere',
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

test('whatever the secrets are, JSON stays JSON', () => {
  fc.assert(
    fc.property(fc.json(), fc.array(fc.string({ minLength: 4 })), (source, secrets) => {
      expect(() => JSON.parse(redactJson(source, createRedactor(secrets)))).not.toThrow();
    }),
  );
});

test('row 25: a secret is found behind escapes, and none of them is torn', () => {
  const redactor = createRedactor(['u001bsecret', 'n-secret']);
  const source = '{"a":"\\u001bsecret \\u0075001bsecret","b":"\\n-secret n-secret","c":"\\u001b"}';
  expect(redactJson(source, redactor)).toBe(
    `{"a":"\\u001bsecret ${REDACTED}","b":"\\n-secret ${REDACTED}","c":"\\u001b"}`,
  );
});

test('row 15: a long text is redacted as a short one is, and is read about once', () => {
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
