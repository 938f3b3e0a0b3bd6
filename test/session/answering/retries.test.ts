import { describe, expect, it } from 'vitest';
import { busyPauseMs, failurePauseMs, judgeGet, judgePost } from '../../../src/session/client/requests.js';

describe('the answer to posted results', () => {
  it.each<[number, ReturnType<typeof judgePost>]>([
    [200, 'taken'],
    [202, 'taken'],
    [204, 'taken'],
    [409, 'finished'],
    [413, 'too-large'],
    [422, 'invalid'],
    [429, 'busy'],
    [301, 'refused'],
    [307, 'refused'],
    [400, 'refused'],
    [401, 'refused'],
    [404, 'refused'],
    [500, 'refused'],
    [503, 'refused'],
  ])('%i: %s', (status, verdict) => expect(judgePost(status)).toBe(verdict));
});

describe('the answer to a GET', () => {
  it.each<[number, ReturnType<typeof judgeGet>]>([
    [200, 'fine'],
    [204, 'fine'],
    [302, 'refused'],
    [401, 'refused'],
    [404, 'refused'],
    [422, 'refused'],
    [429, 'busy'],
    [500, 'again'],
    [503, 'again'],
  ])('%i: %s', (status, verdict) => expect(judgeGet(status)).toBe(verdict));
});

const NOW = new Date('1994-11-06T08:49:00Z');

describe('the pause that a 429 asks for', () => {
  it.each<[string, Record<string, string>, number]>([
    ['in seconds', { 'retry-after': '2' }, 2_000],
    ['as a date', { 'retry-after': 'Sun, 06 Nov 1994 08:49:03 GMT' }, 3_000],
    ['not at all', { 'retry-after': '0' }, 0],
    ['without saying', {}, 1_000],
    ['for a minute', { 'retry-after': '60' }, 60_000],
    ['in no words of HTTP: as without saying', { 'retry-after': 'soon' }, 1_000],
    ['until a time that is over', { 'retry-after': 'Sun, 06 Nov 1994 08:48:03 GMT' }, 0],
  ])('%s', (_, headers, ms) => expect(busyPauseMs(headers, NOW)).toBe(ms));

  it.each(['61', '86400', '9'.repeat(400), 'Sun, 06 Nov 1994 08:51:00 GMT'])(
    'is too long to wait for: %s',
    asked => expect(busyPauseMs({ 'retry-after': asked }, NOW)).toBeNull(),
  );
});

it('the pause grows with failures, up to a bound', () => {
  expect([1, 2, 3, 6, 7, 50].map(failurePauseMs)).toEqual([200, 400, 800, 6_400, 10_000, 10_000]);
});
