import { InvalidArgumentError } from 'commander';
import { expect, test } from 'vitest';
import { expectation } from '../../../src/commands/listen/command.js';

test.each([
  ['thread_1/call_1', { groupId: 'thread_1', id: 'call_1' }],
  ['a/b/c', { groupId: 'a/b', id: 'c' }],
])('%s: the last slash parts group_id and id', (text, ids) => {
  expect(expectation(text)).toEqual([ids]);
  expect(expectation(text, [{ groupId: 'x', id: 'y' }])).toHaveLength(2);
});

test.each(['', 'a', 'a/', '/b', '/'])('%j names no call', text => {
  expect(() => expectation(text)).toThrow(InvalidArgumentError);
});
