import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createRedactor, REDACTED } from '../../src/text/redact.js';
import { redactJson } from '../../src/text/redact-json.js';

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
