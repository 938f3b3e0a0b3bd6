import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SecretPaths } from '../../src/http/secret-paths.js';

describe('row 1: the address of a call cannot be guessed', () => {
  test('tokens have 256 bits and are unique', () => {
    const addresses = new SecretPaths<string>('/callback/');
    const tokens = Array.from({ length: 1_000 }, (_, index) => addresses.issue(`call-${index}`).token);
    expect(new Set(tokens).size).toBe(1_000);
    for (const token of tokens) expect(Buffer.from(token, 'base64url')).toHaveLength(32);
  });

  test('10,000 wrong, truncated and extended tokens match nothing', () => {
    const addresses = new SecretPaths<string>('/callback/');
    const { path } = addresses.issue('call');
    const position = fc.nat(path.length - 1);
    const wrong = fc.oneof(
      position.map(length => path.slice(0, length)),
      position.map(from => path.slice(from + 1)),
      fc
        .tuple(position, fc.string({ minLength: 1, maxLength: 1 }))
        .map(([at, character]) => path.slice(0, at) + character + path.slice(at + 1)),
      fc.string({ minLength: 1 }).map(more => path + more),
      fc.base64String({ minLength: 43, maxLength: 44 }).map(token => `/callback/${token}`),
      fc.constantFrom(
        '',
        '/',
        '/callback/',
        path.toUpperCase(),
        `${path}/`,
        `${path}?`,
        `/${path}`,
        path.replace('c', '%63'),
      ),
    );
    fc.assert(
      fc.property(
        wrong.filter(each => each !== path),
        each => addresses.resolve(each) === undefined,
      ),
      { numRuns: 4_000 },
    );
    expect(addresses.resolve(path)).toBe('call');
  });
});

test('row 7: each call has its own path', () => {
  const addresses = new SecretPaths<string>('/callback/');
  const [one, two] = [addresses.issue('one'), addresses.issue('two')];
  expect([addresses.resolve(one.path), addresses.resolve(two.path)]).toEqual(['one', 'two']);
  expect(one.path).toBe(`/callback/${one.token}`);
  expect(new SecretPaths<string>('/callback/').resolve(one.path)).toBeUndefined();
});

test('with a limit, the oldest paths match nothing', () => {
  const addresses = new SecretPaths<number>('/callback/', 2);
  const paths = [0, 1, 2, 3, 4].map(number => addresses.issue(number).path);
  expect(addresses.resolve(paths[0] ?? '')).toBeUndefined();
  expect(paths.slice(-2).map(path => addresses.resolve(path))).toEqual([3, 4]);
});
