import { describe, expect, it } from 'vitest';
import { retryAfterMs } from '../../src/http/retry-after.js';

const NOW = new Date('1994-11-06T08:49:00Z');

describe('Retry-After', () => {
  it.each([
    ['seconds', '120', 120_000],
    ['an HTTP date', 'Sun, 06 Nov 1994 08:49:37 GMT', 37_000],
    ['an RFC 850 date', 'Sunday, 06-Nov-94 08:49:37 GMT', 37_000],
    ['an asctime date, in UTC', 'Sun Nov  6 08:49:37 1994', 37_000],
    ['a past date', 'Sun, 06 Nov 1994 08:00:00 GMT', 0],
    ['surrounding blanks', ' 1 ', 1_000],
  ])('accepts %s', (_, value, expected) => expect(retryAfterMs(value, NOW)).toBe(expected));

  it.each([
    undefined,
    '',
    '1.5',
    '1e3',
    '0x10',
    '+5',
    'tomorrow',
    '1994-11-06',
    'Sun, 99 Nov 1994 08:49:37 GMT',
  ])('ignores an invalid value: %s', value => expect(retryAfterMs(value, NOW)).toBe(null));
});
