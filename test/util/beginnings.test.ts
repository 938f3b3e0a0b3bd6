import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Beginnings } from '../../src/util/redact.js';
import { cut, excerpt } from '../../src/util/text.js';

/** What of a text is not a beginning before a mark. */
function found(text: string, ...wholes: readonly string[]): readonly string[] {
  const beginnings = new Beginnings();
  for (const whole of wholes) beginnings.add(whole);
  return beginnings.in(text).map(({ from, to }) => text.slice(from, to));
}

describe('a beginning is found', () => {
  test.each<[string, string, readonly string[]]>([
    ['before a mark', 'say secret-0… to', ['secret-0']],
    ['before each of several', '"secret-01…" and "secret-012…"', ['secret-01', 'secret-012']],
    ['behind what begins alike', 'secret-0 secret-01…', ['secret-01']],
    ['of the one that goes on so', 'token-aa-9…', ['token-aa-9']],
  ])('%s', (_, text, pieces) => {
    expect(found(text, 'secret-0123', 'token-aa-123', 'token-aa-987')).toEqual(pieces);
  });

  test.each<[string, string]>([
    ['nothing was cut', 'say secret-01'],
    ['it goes on otherwise', 'secret-02…'],
    ['it is too short to tell', 'secret-…'],
    ['something stands between', 'secret-01 …'],
    ['the mark before it is another', '… secret-01'],
  ])('and none where %s', (_, text) => {
    expect(found(text, 'secret-0123')).toEqual([]);
  });
});

test('whatever is cut, and wherever', () => {
  const whole = fc.string({ unit: fc.constantFrom(...'XYZ'), minLength: 9, maxLength: 300 });
  fc.assert(
    fc.property(
      fc.array(whole, { minLength: 1 }),
      fc.nat(80),
      fc.integer({ min: 8, max: 299 }),
      (wholes, pad, left) => {
        const [secret = ''] = wholes;
        const piece = secret.slice(0, Math.min(left, secret.length - 1));
        const [span] = found(`${'x'.repeat(pad)}${piece}… and more`, ...wholes);
        expect(span).toHaveLength(piece.length);
      },
    ),
  );
});

test.each([excerpt, (text: string) => cut(text, 60)])('as our own cuts leave it', cutter => {
  const secret = 'ghp_0123456789abcdef🔑';
  for (let pad = 41; pad <= 52; pad++)
    expect(found(cutter(`${'x'.repeat(pad)}${secret}`), secret)).toEqual([secret.slice(0, 60 - pad)]);
});

test('of too many that begin alike, whatever goes on', () => {
  const many = Array.from({ length: 40 }, (_, n) => `call-id-${String(n).padStart(2, '0')}-of-40`);
  expect(found('call-id-39… and calling…', ...many)).toEqual(['call-id-39']);
});

test('all of them are known, or the latest where so many are to be remembered', () => {
  const [all, latest] = [new Beginnings(), new Beginnings(2)];
  for (const name of ['first', 'second', 'third', 'fourth', 'fifth'])
    for (const beginnings of [all, latest]) beginnings.add(`${name}-0123456789`);
  expect([all, latest].map(each => each.in('first-012… fifth-012…').length)).toEqual([2, 1]);
});

describe('row 22: it takes no longer than to read the text', () => {
  test('with many that begin alike', { timeout: 10_000 }, () => {
    const many = Array.from({ length: 20_000 }, (_, n) => `token-xx-${n}-${'x'.repeat(40)}`);
    expect(found('token-xx…'.repeat(500_000), ...many).length).toBeGreaterThan(0);
    expect(found(`${'token-xx-'.repeat(1_000_000)}…`, ...many)).toHaveLength(1);
  });

  test('with some that resemble themselves', { timeout: 10_000 }, () => {
    const alike = Array.from({ length: 31 }, (_, n) => `${'a'.repeat(4_000)}${n}`);
    expect(found(`${'a'.repeat(200)}b${'-'.repeat(3_000)}…`.repeat(1_000), ...alike)).toHaveLength(0);
  });
});
