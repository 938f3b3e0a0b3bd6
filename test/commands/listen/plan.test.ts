import { describe, expect, test } from 'vitest';
import { type ListenFlags, planListen } from '../../../src/commands/listen/run.js';
import { ProtocolCliError } from '../../../src/util/errors.js';

const FLAGS: ListenFlags = {
  host: '127.0.0.1',
  port: 0,
  maxBody: 1_000,
  timeout: 0,
  supports: new Set(['text']),
  output: 'plain',
  color: false,
};
const plan = (flags: Partial<ListenFlags> = {}) => planListen({ ...FLAGS, ...flags });

test('without flags it takes whatever comes, for as long as it may', () => {
  expect(plan()).toMatchObject({ expected: [], count: null });
});

test('what is expected: pairs, and one more for ids with a slash', () => {
  const pair = { groupId: 'a', id: 'b' };
  expect(plan({ expect: [pair], groupId: 'c/d', id: 'e/f' }).expected).toEqual([
    pair,
    { groupId: 'c/d', id: 'e/f' },
  ]);
});

test.each<[Partial<ListenFlags>, boolean]>([
  [{ output: 'plain' }, false],
  [{ output: 'json' }, false],
  [{ output: 'ndjson' }, true],
  [{ save: 'a.ndjson' }, true],
])('%j: the bytes of callbacks are kept only where somebody tells them', (flags, keepBodies) => {
  expect(plan(flags).listener.keepBodies).toBe(keepBodies);
});

describe('what makes no sense', () => {
  test.each<[Partial<ListenFlags>, RegExp]>([
    [{ count: 0 }, /--count must be at least 1/],
    [{ count: 2, expect: [{ groupId: 'a', id: 'b' }] }, /only 1 results are expected/],
    [{ groupId: 'a' }, /need each other/],
    [{ id: 'a' }, /need each other/],
    [{ groupId: '', id: 'a' }, /need each other/],
  ])('%j', (flags, message) => {
    const attempt = () => plan(flags);
    expect(attempt).toThrow(ProtocolCliError);
    expect(attempt).toThrow(message);
  });
});
