import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Beginnings } from '../../src/text/beginnings.js';
import { cut } from '../../src/text/cut.js';
import { excerpt } from '../../src/text/excerpt.js';

/** What of a text is no beginning before a mark. */
function found(text: string, ...wholes: readonly string[]): readonly string[] {
  const beginnings = new Beginnings();
  for (const whole of wholes) beginnings.add(whole);
  return beginnings.in(text).map(({ from, to }) => text.slice(from, to));
}

describe('a beginning is found', () => {
  test.each<[string, string, readonly string[]]>([
    ['before a mark', 'say secr… to', ['secr']],
    ['before each of several', '"secret-1…" and "secret-12…"', ['secret-1', 'secret-12']],
    ['behind what begins alike', 'secr secret-1…', ['secret-1']],
    ['of the one that goes on so', 'token-9…', ['token-9']],
  ])('%s', (_, text, pieces) => {
    expect(found(text, 'secret-123', 'token-123', 'token-987')).toEqual(pieces);
  });

  test.each<[string, string]>([
    ['nothing was cut', 'say secret-1'],
    ['it goes on otherwise', 'secret-2…'],
    ['it is too short to tell', 'sec…'],
    ['something stands between', 'secret-1 …'],
    ['the mark before it is another', '… secret-1'],
  ])('and none where %s', (_, text) => {
    expect(found(text, 'secret-123')).toEqual([]);
  });
});

test('whatever is cut, and wherever', () => {
  const whole = fc.string({ unit: fc.constantFrom(...'XYZ'), minLength: 5, maxLength: 300 });
  fc.assert(
    fc.property(
      fc.array(whole, { minLength: 1 }),
      fc.nat(80),
      fc.integer({ min: 4, max: 299 }),
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
  const secret = 'ghp_0123456789abcdef';
  for (let pad = 41; pad <= 56; pad++)
    expect(found(cutter(`${'x'.repeat(pad)}${secret}`), secret)).toEqual([secret.slice(0, 60 - pad)]);
});

test('of too many that begin alike, whatever goes on', () => {
  const many = Array.from({ length: 40 }, (_, n) => `call-${String(n).padStart(2, '0')}`);
  expect(found('call-39… and cal…', ...many)).toEqual(['call-39']);
});

test('all of them are known, or the latest where so many are to be remembered', () => {
  const [all, latest] = [new Beginnings(), new Beginnings(2)];
  for (const whole of ['first-1', 'second-2', 'third-3', 'fourth-4', 'fifth-5'])
    for (const beginnings of [all, latest]) beginnings.add(whole);
  expect([all, latest].map(each => each.in('first… fifth…').length)).toEqual([2, 1]);
});

test('row 22: it takes no longer than to read the text', { timeout: 10_000 }, () => {
  const begun = performance.now();
  const many = Array.from({ length: 20_000 }, (_, n) => `token-${n}-${'x'.repeat(40)}`);
  expect(found('token-x…'.repeat(500_000), ...many).length).toBeGreaterThan(0);
  expect(found(`${'token-'.repeat(1_000_000)}…`, ...many)).toHaveLength(1);
  expect(performance.now() - begun).toBeLessThan(5_000);
});
