import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { judgeResults } from '../../../../src/session/platform/judge-results.js';
import {
  cancel,
  forceAnswer,
  pause,
  resume,
  settle,
  takeMessages,
} from '../../../../src/session/platform/platform.js';
import { type Session, statusOf } from '../../../../src/session/platform/session-state.js';
import { readJson } from '../../../../src/util/json.js';
import { deepFreeze } from '../../../support/deep-freeze.js';
import { AT, batch, beginning, begun, errorEvent, toolResult } from '../build.js';

function post(session: Session, body: unknown) {
  const { status, settles } = judgeResults(session, readJson(Buffer.from(JSON.stringify(body))));
  return { status, ...settle(session, settles, AT) };
}

const posted = (session: Session, ...bodies: unknown[]) =>
  bodies.reduce<Session>((each, body) => deepFreeze(post(each, body).session), session);
const statesOf = ({ events }: Session) =>
  events.flatMap(({ type, data }) => (type === 'ActiveStateChangeEvent' ? [data] : []));
const FIRST = [toolResult('call_1'), toolResult('none', { result: 2 }), errorEvent('none')];

describe('a session plays its script', () => {
  test('from its first calls on', () => {
    const { session, facts } = beginning();
    expect(session).toMatchObject({
      phase: 'awaiting_tool_results',
      round: 0,
      startedAt: AT,
      finishedAt: null,
    });
    expect(session.pending.map(({ key }) => key)).toEqual(['call_1', '#1', '#2']);
    expect(facts).toMatchObject([
      { kind: 'session', status: 'running', thread: 's' },
      { kind: 'session', status: 'awaiting_tool_results' },
      {
        kind: 'awaiting',
        round: 0,
        calls: ['call_1', '#1', '#2'],
        pending: [{ key: 'call_1', id: 'call_1' }, { key: '#1', id: null }, {}],
      },
    ]);
  });

  test('publishes what survives as calls settle, as clients see it', () => {
    const session = posted(begun(), toolResult('call_1'), toolResult('none'));
    const call = { tool_name: 'lookup_order', args: { order_id: 'A2' }, id: null };
    expect(statesOf(session).slice(2)).toEqual([
      { state: 'awaiting_tool_results', pending_tool_calls: [call, call] },
      { state: 'awaiting_tool_results', pending_tool_calls: [call] },
    ]);
  });

  test('to the next round once every call has an answer, with the results filled in', () => {
    const { session, facts } = post(begun(), batch(...FIRST));
    expect(session).toMatchObject({ phase: 'awaiting_tool_results', round: 1 });
    expect(session.pending).toEqual([
      { key: 'call_2', tool_name: 'lookup_parcel', args: { parcel: 'shipped' }, id: 'call_2' },
    ]);
    expect(facts.map(({ kind }) => kind)).toEqual([
      'answered',
      'answered',
      'answered',
      'session',
      'session',
      'awaiting',
    ]);
  });

  test('to its answer, and completes', () => {
    const session = posted(begun(), batch(...FIRST), toolResult('call_2', { result: 'here' }));
    expect(session).toMatchObject({
      phase: 'completed',
      answer: 'It is here',
      finishedAt: AT,
      pending: [],
      abandoned: [],
    });
    expect(session.events.slice(-2)).toMatchObject([
      { type: 'AgentEvent', data: { kind: 'answer_event', answer: 'It is here' } },
      { type: 'AgentCompletionEvent', data: { reason: 'finished' } },
    ]);
  });

  test.each([
    ['idle', { phase: 'idle', finishedAt: null, error: null }],
    ['timed_out', { phase: 'timed_out', finishedAt: AT }],
    ['interrupted', { phase: 'interrupted', finishedAt: AT }],
    ['failed', { phase: 'failed', finishedAt: AT, error: expect.stringMatching(/script/) }],
  ])('to another end: %s', (end, state) => {
    const one = { rounds: [{ calls: [{ tool_name: 'lookup_order', id: 'call_1' }] }], end };
    expect(posted(begun(one), toolResult('call_1'))).toMatchObject(state);
  });

  test('a whole template keeps its type; what has no result is null, and told', () => {
    const session = begun({
      rounds: [
        {
          calls: [
            { tool_name: 'lookup_order', id: 'call_1' },
            { tool_name: 'lookup_order', args: { order_id: 'A2' } },
          ],
        },
        {
          calls: [
            {
              tool_name: 'b',
              args: { all: '{{results.call_1}}', part: '{{results.call_1.a.0}}', none: '{{results.#1}}' },
              id: 'b',
            },
          ],
        },
      ],
    });
    const { session: next, facts } = post(
      session,
      batch(toolResult('call_1', { result: { a: [7] } }), errorEvent('none')),
    );
    expect(next.pending[0]?.args).toEqual({ all: { a: [7] }, part: 7, none: null });
    expect(facts).toContainEqual({
      kind: 'warned',
      calls: ['b'],
      thread: 's',
      message: expect.stringContaining('results.#1'),
    });
  });
});

describe('a session is steered', () => {
  test('paused, it takes results, and goes on with the next round once it is resumed', () => {
    const paused = posted(pause(begun()).session, batch(...FIRST));
    expect(statusOf(paused)).toBe('paused');
    expect(paused).toMatchObject({ round: 0, pending: [] });
    expect(resume(paused, AT).session).toMatchObject({ round: 1, phase: 'awaiting_tool_results' });
  });

  test('resumed while it waits, it publishes its calls again', () => {
    const { session, facts } = resume(pause(begun()).session, AT);
    expect(statesOf(session).at(-1)).toMatchObject({
      state: 'awaiting_tool_results',
      pending_tool_calls: [{}, {}, {}],
    });
    expect(facts).toMatchObject([{ kind: 'session', status: 'awaiting_tool_results' }, { kind: 'awaiting' }]);
  });

  test('a message resumes it, and is in its events', () => {
    const { session } = takeMessages(pause(begun()).session, ['one', 'two'], AT);
    expect(statusOf(session)).toBe('awaiting_tool_results');
    expect(session.events.filter(({ data }) => JSON.stringify(data).includes('user_message'))).toHaveLength(
      2,
    );
  });

  test('forced, it answers with what it has', () => {
    const { session } = forceAnswer(posted(begun(), toolResult('call_1')), AT);
    expect(session).toMatchObject({ phase: 'completed', answer: 'It is ', pending: [] });
    expect(session.abandoned.map(({ key }) => key)).toEqual(['#1', '#2']);
  });

  test('cancelled, it is interrupted', () => {
    expect(cancel(begun(), AT).session).toMatchObject({ phase: 'interrupted', finishedAt: AT, pending: [] });
  });

  test.each([
    ['pause', pause],
    ['resume', resume],
    ['forceAnswer', forceAnswer],
    ['cancel', cancel],
  ])('at its end %s changes nothing', (_, step) => {
    const ended = cancel(begun(), AT).session;
    expect(step(ended, AT)).toEqual({ session: ended, facts: [] });
  });
});

/** Every way to post the answers of the first round: in any order, in posts of any size. */
const posts = fc
  .tuple(fc.shuffledSubarray(FIRST, { minLength: 3 }), fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }))
  .map(([answers, ends]) => {
    const bodies: unknown[][] = [[]];
    for (const [index, answer] of answers.entries()) {
      bodies.at(-1)?.push(answer);
      if (ends[index]) bodies.push([]);
    }
    return bodies.filter(body => body.length > 0);
  });

const bodyOf = (results: unknown[]) => (results.length === 1 ? results[0] : batch(...results));
const outcome = ({ phase, round, pending, settled }: Session) => ({
  phase,
  round,
  pending,
  kinds: settled.map(({ answer }) => answer.kind).sort(),
});

test('any order and any partition of the posts ends in the same state', () => {
  const expected = outcome(posted(begun(), batch(...FIRST)));
  fc.assert(
    fc.property(posts, bodies => {
      const statuses: number[] = [];
      const session = bodies.reduce<Session>((each, results) => {
        const { status, session } = post(each, bodyOf(results));
        statuses.push(status);
        return session;
      }, begun());
      expect(statuses).toEqual(bodies.map(() => 202));
      expect(outcome(session)).toEqual(expected);
    }),
  );
});

test('a refused body changes nothing, wherever its fault is and whatever else it has', () => {
  const fault = fc.constantFrom<unknown>(
    toolResult('unknown'),
    toolResult('call_2'),
    { kind: 'x' },
    null,
    {},
  );
  fc.assert(
    fc.property(posts, fault, fc.nat(3), (bodies, bad, place) => {
      const begin = begun();
      const results = bodies.flat();
      results.splice(place, 0, bad);
      const { status, session, facts } = post(begin, batch(...results));
      expect(status).toBe(422);
      expect(session).toBe(begin);
      expect(facts).toEqual([]);
    }),
  );
});

test('with batch: each, what is valid is applied whatever is beside it', () => {
  const fault = fc.constantFrom<unknown>(toolResult('unknown'), { kind: 'x' }, null);
  const expected = outcome(posted(begun(), batch(...FIRST)));
  fc.assert(
    fc.property(fc.shuffledSubarray(FIRST, { minLength: 3 }), fault, fc.nat(3), (answers, bad, place) => {
      const results: unknown[] = [...answers];
      results.splice(place, 0, bad);
      const { status, session } = post(begun(undefined, { batch: 'each' }), batch(...results));
      expect(status).toBe(422);
      expect(outcome(session)).toEqual(expected);
    }),
  );
});

test('an answer that is not as its script expects says so in its event', () => {
  const [calls] = [[{ tool_name: 'lookup_order', args: { order_id: 'A1' }, id: 'call_1' }]];
  const wanting = { rounds: [{ calls, expect: { call_1: { kind: 'tool_result', result: 'lost' } } }] };
  const { facts } = post(begun(wanting), toolResult('call_1'));
  expect(facts.find(({ kind }) => kind === 'answered')).toMatchObject({
    unexpected: ['$.result wanted "lost", got "shipped"'],
  });
});
