import { expect, test } from 'vitest';
import type { SessionProblem } from '../../../src/events/verification.js';
import { humanSessionVerification } from '../../../src/render/outputs/verification.js';

const report = (problems: SessionProblem[], { count = problems.length, sessions = 1 } = {}) => ({
  ok: count === 0,
  sessions,
  calls: 3,
  answered: 2,
  problems: { count, examples: problems },
});
const about = { session: 's1', call: 'call_1', tool_name: 'lookup' };

test('a line for each problem, and one that sums up', () => {
  const text = humanSessionVerification(
    report([
      { kind: 'unanswered', ...about },
      { kind: 'unexpected', ...about, path: '$.result', reason: 'wanted 1, got 2' },
      { kind: 'unreached', session: 's1', rounds: 2, of: 3 },
      { kind: 'refused', session: null, status: 404, reason: 'Session not found.' },
      { kind: 'refused', what: 'session', session: null, status: 401, reason: 'No key.' },
    ]),
  );
  expect(text.split('\n')).toEqual([
    '✗ lookup call_1 was not answered',
    '✗ lookup call_1 got an unexpected answer: $.result wanted 1, got 2',
    '✗ 2 of 3 rounds were not reached',
    '✗ results were refused with 404: Session not found.',
    '✗ a new session was refused with 401: No key.',
    '✗ verification failed: 2 of 3 calls answered in 1 session, 5 problems',
    '',
  ]);
});

test('foreign words are safe to print', () => {
  const text = humanSessionVerification(report([{ kind: 'unanswered', ...about, tool_name: '\u001b[2J\n' }]));
  expect(text).not.toContain('\u001b');
  expect(text.split('\n')).toHaveLength(3);
});
