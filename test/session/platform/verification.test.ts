import { describe, expect, test } from 'vitest';
import type { SessionProblem } from '../../../src/events/verification-report.js';
import { FindingsCollector } from '../../../src/events/verification-report.js';
import { judgeResults } from '../../../src/session/platform/judge-results.js';
import { cancel, forceAnswer, settle, verificationOf } from '../../../src/session/platform/platform.js';
import type { Session } from '../../../src/session/platform/session-state.js';
import { readJson } from '../../../src/util/json.js';
import { AT, batch, begun, errorEvent, TWO_ROUNDS, toolResult } from './build.js';
import { platformWith } from './client.js';

const [first, second] = TWO_ROUNDS.rounds;
const EXPECTING = {
  rounds: [
    {
      ...first,
      expect: {
        call_1: { kind: 'tool_result', result: 'shipped' },
        '#2': { kind: 'error_event', error: { $regex: '^no' } },
      },
    },
    second,
  ],
};

function played(session: Session, ...bodies: unknown[]): Session {
  return bodies.reduce<Session>((each, body) => {
    const { settles } = judgeResults(each, readJson(Buffer.from(JSON.stringify(body))));
    return settle(each, settles, AT).session;
  }, session);
}

const verified = (...sessions: Session[]) =>
  verificationOf(sessions, new FindingsCollector<SessionProblem>());
const GOOD = [batch(toolResult('call_1'), toolResult('none'), errorEvent('none')), toolResult('call_2')];

describe('a session that was played', () => {
  test('to its end, as expected, is verified', () => {
    expect(verified(played(begun(EXPECTING), ...GOOD))).toEqual({
      ok: true,
      sessions: 1,
      calls: 4,
      answered: 4,
      problems: { count: 0, examples: [] },
    });
  });

  test('otherwise than expected: each difference has its path', () => {
    const bad = batch(toolResult('call_1', { result: 'lost' }), errorEvent('none'), toolResult('none'));
    const { ok, problems } = verified(played(begun(EXPECTING), bad, toolResult('call_2')));
    expect(ok).toBe(false);
    expect(problems.examples).toEqual([
      {
        kind: 'unexpected',
        session: 's',
        call: 'call_1',
        tool_name: 'lookup_order',
        path: '$.result',
        reason: 'wanted "shipped", got "lost"',
      },
      {
        kind: 'unexpected',
        session: 's',
        call: '#2',
        tool_name: 'lookup_order',
        path: '$.kind',
        reason: 'wanted "error_event", got "tool_result"',
      },
      {
        kind: 'unexpected',
        session: 's',
        call: '#2',
        tool_name: 'lookup_order',
        path: '$.error',
        reason: 'wanted {"$regex":"^no"}, got nothing',
      },
    ]);
  });

  test('a text that holds JSON, where an object was expected: how to have it parsed', () => {
    const [{ calls }] = TWO_ROUNDS.rounds as [(typeof TWO_ROUNDS.rounds)[0]];
    const wanting = {
      rounds: [
        { calls, expect: { call_1: { kind: 'tool_result', result: { parcel: { $type: 'string' } } } } },
      ],
    };
    const reasonOf = (result: unknown) =>
      verified(played(begun(wanting), toolResult('call_1', { result }))).problems.examples.flatMap(each =>
        each.kind === 'unexpected' ? [each.reason] : [],
      );
    expect(reasonOf('{"parcel":"P7"}')).toEqual([
      expect.stringMatching(/got "\{.* \(it is a string; --parse-json of session answer parses it\)$/),
    ]);
    expect(reasonOf('P7')).toEqual([expect.not.stringContaining('--parse-json')]);
  });

  test('in part: what was not answered, and what was not reached', () => {
    expect(verified(played(begun(EXPECTING), toolResult('call_1')))).toMatchObject({
      ok: false,
      calls: 3,
      answered: 1,
      problems: {
        count: 3,
        examples: [
          { kind: 'unanswered', call: '#1' },
          { kind: 'unanswered', call: '#2' },
          { kind: 'unreached', rounds: 1, of: 2 },
        ],
      },
    });
  });

  test.each([
    ['cancelled', cancel],
    ['forced to answer', forceAnswer],
  ])('%s: what was pending is unanswered all the same', (_, step) => {
    const { problems } = verified(step(begun(), AT).session);
    expect(problems.examples.map(({ kind }) => kind)).toEqual([
      'unanswered',
      'unanswered',
      'unanswered',
      'unreached',
    ]);
  });
});

test('the session from the start counts only where somebody asked for it, or for no other', async () => {
  await using it = await platformWith();
  expect(it.platform.verify()).toMatchObject({ ok: false, sessions: 1 });
  const { body } = await it.ask('POST', '', { agent: 'a' });
  const { id } = body as { id: string };
  await it.ask('POST', `/${id}/tool_results`, toolResult('call_1'));
  expect(it.platform.verify()).toMatchObject({ ok: true, sessions: 1 });
  await it.ask('GET', '/session_1/status');
  expect(it.platform.verify()).toMatchObject({ ok: false, sessions: 2 });
});

test('posts that were refused are findings, each with its reason', async () => {
  await using it = await platformWith();
  await it.ask('POST', '/session_1/tool_results', toolResult('unknown'));
  await it.ask('POST', '/nobody/tool_results', toolResult('call_1'));
  await it.ask('POST', '/session_1/tool_results', toolResult('call_1'));
  await it.ask('POST', '/session_1/tool_results', toolResult('call_1'));
  expect(it.platform.verify().problems).toEqual({
    count: 3,
    examples: [
      {
        kind: 'refused',
        session: 'session_1',
        status: 422,
        reason: expect.stringContaining('body.tool_req.id: '),
      },
      { kind: 'refused', session: null, status: 404, reason: 'Session not found.' },
      { kind: 'refused', session: 'session_1', status: 409, reason: 'Session has already finished.' },
    ],
  });
});

test('sessions that could not be created are findings too', async () => {
  await using it = await platformWith();
  await it.ask('POST', '', { agent: 7 });
  await it.ask('POST', '', { agent: 'a' }, { authorization: 'Bearer wrong' });
  const { ok, problems } = it.platform.verify();
  expect(ok).toBe(false);
  expect(problems.examples.filter(({ kind }) => kind === 'refused')).toEqual([
    {
      kind: 'refused',
      what: 'session',
      session: null,
      status: 422,
      reason: expect.stringMatching(/^body\.agent/),
    },
    { kind: 'refused', what: 'session', session: null, status: 401, reason: 'Invalid or missing API key.' },
  ]);
});
