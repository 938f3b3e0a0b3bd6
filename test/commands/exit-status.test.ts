import { expect, test } from 'vitest';
import { EXIT_STATUSES, type ExitStatus, statusOfFailure } from '../../src/commands/terminal.js';
import type { FailureCode } from '../../src/render/outputs/trouble.js';

test('the statuses match the table in the contract', () => {
  expect(Object.keys(EXIT_STATUSES).map(Number)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 129, 130, 143]);
});

/** The rows of the contract's table. */
const CONTRACT: Record<FailureCode, ExitStatus> = {
  usage: 2,
  'unreadable-file': 2,
  'unwritable-file': 2,
  'unknown-operation': 2,
  'invalid-arguments': 2,
  'invalid-toolset': 2,
  'invalid-fixtures': 2,
  'port-in-use': 2,
  unreachable: 4,
  'no-discovery': 4,
  'refused-address': 4,
  'bad-acknowledgement': 4,
  'command-failed': 4,
  'platform-refused': 4,
  'bad-answer': 4,
  'session-failed': 5,
  declined: 5,
  denied: 5,
  'decision-needed': 6,
  timeout: 7,
  interrupted: 130,
};

test.each(Object.entries(CONTRACT) as [FailureCode, ExitStatus][])('error %s: %i', (code, status) => {
  expect(statusOfFailure(code)).toBe(status);
});
