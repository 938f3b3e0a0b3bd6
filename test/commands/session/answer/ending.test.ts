import { expect, test } from 'vitest';
import { troubleOf } from '../../../../src/commands/session/answer.js';
import type { SessionEnd } from '../../../../src/session/client/answering.js';

const ended = (status: string, more: Partial<SessionEnd> = {}): SessionEnd => ({
  id: 's1',
  status,
  isSettled: true,
  error: null,
  answer: undefined,
  ...more,
});

test.each(['completed', 'idle'])('a session that is %s went well', status => {
  expect(troubleOf(ended(status), 0)).toBeNull();
});

test.each(['failed', 'timed_out', 'interrupted'])('one that is %s did not', status => {
  expect(troubleOf(ended(status, { error: `it\u001b ${'x'.repeat(1_000)}` }), 0)).toMatchObject({
    code: 'session-failed',
    message: expect.stringMatching(`^the session s1 ended as ${status}: it␛ x{400,500}…$`),
  });
});

test('one that is waited for without success', () => {
  expect(troubleOf(ended('paused', { isSettled: false }), 2_000)).toMatchObject({
    code: 'timeout',
    message: 'nothing new from the session s1 within 2s: it is paused',
  });
});
