import { describe, expect, test } from 'vitest';
import { reportOf, type SentNotice, troubleOf, warningsOf } from '../../../src/commands/notices/run.js';
import type { NoticeAnswer } from '../../../src/runtime/notices.js';

const BASE = 'http://127.0.0.1:3001';
const URL = `${BASE}/close_thread`;
const answered = (status: number, excerpt = '', bodySize: number | null = 0): NoticeAnswer => ({
  kind: 'answered',
  status,
  excerpt,
  bodySize,
});
const DEAD: NoticeAnswer = {
  kind: 'unanswered',
  reason: `${URL}: connect ECONNREFUSED`,
  hint: 'Does it run?',
};

const sent = (answer: NoticeAnswer): SentNotice => ({
  base: BASE,
  notice: { kind: 'close', message: { thread_id: 't' } },
  answer,
  ms: 3,
});

test('a report says what was sent, and what became of it', () => {
  const about = { notice: 'close', url: URL, sent: { thread_id: 't' }, ms: 3 };
  expect(reportOf(sent(answered(200)))).toEqual({ ...about, status: 200 });
  expect(reportOf(sent(answered(500, 'broken')))).toEqual({ ...about, status: 500, said: 'broken' });
  expect(reportOf(sent(DEAD))).toEqual({ ...about, status: null, said: 'connect ECONNREFUSED' });
});

test('TOOL-CLOSE: a body beside the 200 is warned of', () => {
  expect(warningsOf(sent(answered(200, '', 2)))).toEqual([
    { id: 'TOOL-CLOSE', message: 'the answer to /close_thread has a body of 2 bytes; it must be empty' },
  ]);
  expect(warningsOf(sent(answered(200, '', null)))).toEqual([
    { id: 'TOOL-CLOSE', message: 'the answer to /close_thread has a body; it must be empty' },
  ]);
  expect(warningsOf(sent(answered(200)))).toEqual([]);
  expect(warningsOf(sent(answered(500, 'no', 2)))).toEqual([]);
});

describe('what went wrong', () => {
  test('nothing, where every answer is 200', () => {
    expect(troubleOf([sent(answered(200)), sent(answered(200))])).toBeNull();
  });

  test.each<[NoticeAnswer, string, string, RegExp]>([
    [answered(204), 'bad-acknowledgement', `${URL} answered 204 instead of 200`, /TOOL-CLOSE\)\.$/],
    [answered(404, 'gone'), 'bad-acknowledgement', `${URL} answered 404 instead of 200: gone`, /base URL/],
    [answered(302), 'bad-acknowledgement', `${URL} answered 302 instead of 200`, /never followed/],
    [DEAD, 'unreachable', `no answer from ${URL}: connect ECONNREFUSED`, /Does it run/],
  ])('%j', (answer, code, message, hint) => {
    expect(troubleOf([sent(answer)])).toMatchObject({ code, message, hint: expect.stringMatching(hint) });
  });

  test('several failures are listed', () => {
    expect(troubleOf([sent(answered(200)), sent(DEAD), sent(answered(500))])).toMatchObject({
      code: 'bad-acknowledgement',
      message: '2 of 3 notices were not answered with 200',
      faults: [`no answer from ${URL}: connect ECONNREFUSED`, `${URL} answered 500 instead of 200`],
    });
  });
});
