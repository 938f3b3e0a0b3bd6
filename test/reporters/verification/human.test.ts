import fc from 'fast-check';
import { expect, test } from 'vitest';
import { humanVerification } from '../../../src/render/outputs/verification.js';
import { anyCodePoint } from '../../support/characters.js';
import { BROKEN, hostile } from './reports.js';

test('what is not is a line each, and one that sums it up', () => {
  expect(humanVerification(BROKEN).split('\n')).toEqual([
    '✗ fixture tool.json#2 was not used',
    '✗ fixture ship (tool.yaml:9) was not called, expected at least 2 and at most 4',
    '✗ fixture few (tool.yaml:12) was called once, expected at least 2',
    '✗ fixture many (tool.yaml:15) was called 3 times, expected at most 2',
    '✗ fixture once (tool.yaml:18) was called 2 times, expected 1',
    '✗ unmatched call: pay (c1) of thread_a: no fixture matches; nearest: ship: $.operation is "pay", not "ship"',
    '✗ unmatched call: pay (c1) of thread_a: unknown operation "pay".',
    '✗ unmatched call: a call without an operation: the invocation is malformed: not valid JSON',
    '✗ unmatched call: pay (c1) of thread_a: no fixture matches',
    '✗ undelivered callback: tool_result for pay (c1) to http://127.0.0.1:9/cb: answered 404',
    '✗ undelivered callback: pay (c2): still pending',
    '✗ undelivered callback: and 100 more',
    '✗ verification failed: 12 calls, 5 of 6 fixtures not as expected, 4 unmatched calls, 102 undelivered callbacks',
    '',
  ]);
});

test('row 24: nothing foreign acts, and no text makes lines of its own', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCodePoint }), text => {
      const told = humanVerification(hostile(text));
      expect(told.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
      expect(told.split('\n')).toHaveLength(5);
    }),
  );
});
