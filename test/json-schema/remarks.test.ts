import { describe, expect, test } from 'vitest';
import { remarksOn } from '../../src/json-schema/validator.js';

const MAIL = { type: 'string', format: 'email' };

describe('a value that does not match a format, which is only an annotation', () => {
  test.each([
    ['email', 'no one', 'someone@example.com', 'an email'],
    ['date', '2025-02-30', '2025-02-28', 'a date'],
    ['date-time', '2025-01-01 12:00', '2025-01-01T12:00:00Z', 'a date-time'],
    ['time', '25:00:00Z', '12:00:00Z', 'a time'],
    ['uri', 'not a uri', 'https://example.com/', 'a uri'],
    ['uuid', '0000', '00000000-0000-4000-8000-000000000000', 'a uuid'],
    ['ipv4', '256.0.0.1', '192.0.2.1', 'an ipv4'],
    ['ipv6', '1.2.3.4', '2001:db8::1', 'an ipv6'],
    ['hostname', 'a b', 'example.com', 'a hostname'],
  ])('%s', async (format, odd, usual, words) => {
    expect(await remarksOn({ format }, odd)).toEqual([
      { path: '$', message: `does not look like ${words} (format)` },
    ]);
    expect(await remarksOn({ format }, usual)).toEqual([]);
  });

  test('anywhere in a value, and in every draft', async () => {
    const properties = { to: { type: 'array', items: { $ref: '#/$defs/Mail' } } };
    for (const draft of [
      'draft/2020-12/schema',
      'draft/2019-09/schema',
      'draft-07/schema#',
      'draft-06/schema#',
    ])
      expect(
        await remarksOn(
          { $schema: `http://json-schema.org/${draft}`, properties, $defs: { Mail: MAIL } },
          { to: ['someone@example.com', 'no one'] },
        ),
      ).toEqual([{ path: '$.to[1]', message: 'does not look like an email (format)' }]);
  });

  test('no remark for other errors, or if one of several formats matches', async () => {
    expect(await remarksOn({ properties: { a: MAIL, n: { maximum: 1 } } }, { n: 2 })).toEqual([]);
    expect(await remarksOn({ anyOf: [MAIL, { format: 'ipv4' }] }, '192.0.2.1')).toEqual([]);
  });

  test('no remark for an unknown format or an unusable schema', async () => {
    expect(await remarksOn({ format: 'toString' }, 'x')).toEqual([]);
    expect(await remarksOn({ ...MAIL, $ref: 'https://example.com/elsewhere' }, 'x')).toEqual([]);
    expect(await remarksOn({ $schema: 'https://example.com/my-own', ...MAIL }, 'x')).toEqual([]);
  });
});

test('row 22: does not check a text that takes too long', async () => {
  const slow = `http://${':'.repeat(500_000)}`;
  expect(await remarksOn({ format: 'url' }, slow)).toEqual([]);
});
