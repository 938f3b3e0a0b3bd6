import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Content } from '../../../src/events/content.js';
import type { Sessions } from '../../../src/events/session-calls.js';
import { type Session, sessionCallState, statusOf } from '../../../src/events/session-calls.js';
import { LIMITS } from '../../../src/util/limits.js';
import { at, eventsOf, type Moment } from '../build.js';
import {
  answered,
  answers,
  asks,
  awaiting,
  breaks,
  CLIENT_SESSION,
  failure,
  foldSessions,
  LOOKUP,
  NAMELESS,
  posts,
  result,
  SESSION,
  sessionsOf,
  status,
  warned,
} from './build.js';

function only(sessions: Sessions): Session {
  const session = sessions.get(SESSION);
  if (!session) throw new Error('without session');
  return session;
}

/** The state of each call. */
function states(sessions: Sessions): Record<string, string> {
  const session = only(sessions);
  return Object.fromEntries([...session.calls].map(([key, each]) => [key, sessionCallState(session, each)]));
}

const WAITS = [status('awaiting_tool_results'), awaiting([LOOKUP, NAMELESS])];
const SHIPPED = answered(LOOKUP, result(LOOKUP, 'shipped'));

describe('a session', () => {
  test('begins with its first event, and has all later events', () => {
    const sessions = sessionsOf(...CLIENT_SESSION);
    const session = only(sessions);
    expect(session).toMatchObject({
      id: SESSION,
      rounds: 1,
      answer: { value: 'Your order is shipped' },
      error: null,
      status: { status: 'completed' },
    });
    expect(session.calls.get('#1')).toMatchObject({
      tool: 'lookup_order',
      id: null,
      round: 0,
      askedAt: 2,
      takenAt: 6,
      posts: 1,
    });
    expect(session.calls.get('call_1')?.answer?.body?.json).toMatchObject({ value: { result: 'shipped' } });
    expect(states(sessions)).toEqual({ call_1: 'taken', '#1': 'taken' });
  });

  test('does not begin with a request: a request for an unknown session creates none', () => {
    const sessions = sessionsOf(
      asks('changes'),
      answers(404, { leg: 'changes-1' }),
      posts([LOOKUP]),
      answers(404),
      SHIPPED,
    );
    expect(sessions.size).toBe(0);
  });

  test('a repeated list of pending calls starts no new round; new calls do', () => {
    const other = { ...LOOKUP, key: 'call_2', id: 'call_2' };
    const first = sessionsOf(...WAITS, awaiting([NAMELESS]));
    expect([only(first).rounds, [...only(first).pending]]).toEqual([1, ['#1']]);
    expect(only(sessionsOf(...WAITS, awaiting([NAMELESS, other]))).rounds).toBe(1);
    expect(only(sessionsOf(...WAITS, status('running'), awaiting([other]))).rounds).toBe(2);
    expect(only(sessionsOf(awaiting([LOOKUP], { round: 4 }))).rounds).toBe(5);
  });
});

describe('a call', () => {
  const cases: readonly [string, readonly (readonly Moment[])[], string][] = [
    ['pending', [], 'pending'],
    ['its answer is ready', [SHIPPED], 'answered'],
    ['being posted', [SHIPPED, posts([LOOKUP])], 'posting'],
    ['accepted with 202', [SHIPPED, posts([LOOKUP]), answers(202)], 'taken'],
    ['accepted by the platform', [answered(LOOKUP, result(LOOKUP, 1), 'platform')], 'taken'],
    ['refused with 422', [SHIPPED, posts([LOOKUP]), answers(422)], 'refused'],
    ['postponed by a 429', [SHIPPED, posts([LOOKUP]), answers(429)], 'answered'],
    ['failed post, still pending', [SHIPPED, posts([LOOKUP]), breaks()], 'answered'],
    ['failed post, no longer pending', [SHIPPED, posts([LOOKUP]), breaks(), awaiting([NAMELESS])], 'taken'],
    ['failed post, session running', [SHIPPED, posts([LOOKUP]), breaks(), status('running')], 'taken'],
    [
      'failed post, then refused because the first one had arrived',
      [
        SHIPPED,
        posts([LOOKUP]),
        breaks(),
        posts([LOOKUP], { leg: 'post-2', attempt: 2 }),
        answers(422, { leg: 'post-2' }),
        awaiting([NAMELESS]),
      ],
      'taken',
    ],
    ['the session had finished', [SHIPPED, posts([LOOKUP]), answers(409)], 'unwanted'],
    ['the session ended without it', [status('timed_out')], 'unwanted'],
    ['failed post, session ended', [SHIPPED, posts([LOOKUP]), breaks(), status('completed')], 'taken'],
    ['settled by another client', [awaiting([NAMELESS])], 'gone'],
    ['paused, still pending', [status('paused')], 'pending'],
  ];

  test.each(cases)('%s', (_, moments, state) => {
    expect(states(sessionsOf(...WAITS, ...moments))).toMatchObject({ call_1: state });
  });

  test('keeps the latest answer until the platform accepts one, then never changes', () => {
    const text = (sessions: Sessions) => {
      const json = only(sessions).calls.get('call_1')?.answer?.body?.json;
      return json?.ok ? json.value : undefined;
    };
    const tooLarge = answered(LOOKUP, failure(LOOKUP, 'too large', 'client'));
    const before = sessionsOf(...WAITS, SHIPPED, tooLarge);
    expect(text(before)).toMatchObject({ error: 'too large' });
    expect(text(sessionsOf(...WAITS, SHIPPED, posts([LOOKUP]), answers(202), tooLarge))).toMatchObject({
      result: 'shipped',
    });
  });

  test('finds a request until its end was emitted', () => {
    const sessions = sessionsOf(asks('changes'), at(7, answers(500, { leg: 'changes-1' })));
    expect(sessions.request('changes-1')).toMatchObject({ purpose: 'changes', method: 'GET', at: 0 });
    sessions.apply({ kind: 'warned', message: 'next', seq: 9, at: 9 });
    expect(sessions.request('changes-1')).toBeUndefined();
  });
});

/** A request, and the requests before it: others may overtake it on another connection. */
interface Sent {
  readonly moments: readonly Moment[];
  readonly after: readonly string[];
}

const MORE = { ...LOOKUP, key: 'call_2', id: 'call_2' };
const CLIENT: Readonly<Record<string, Sent>> = {
  first: { moments: SHIPPED, after: [] },
  second: { moments: answered(NAMELESS, failure(NAMELESS, 'no')), after: [] },
  third: { moments: answered(MORE, result(MORE, [1])), after: [] },
  'post of the first': { moments: posts([LOOKUP], { leg: 'a' }), after: ['first'] },
  'taken, the first': { moments: answers(202, { leg: 'a' }), after: ['post of the first'] },
  'post of the others': { moments: posts([NAMELESS, MORE], { leg: 'b' }), after: ['second', 'third'] },
  'lost, the others': { moments: breaks('ECONNRESET', { leg: 'b' }), after: ['post of the others'] },
  'the others are left': { moments: awaiting([NAMELESS, MORE]), after: ['post of the first'] },
  'it runs': { moments: status('running'), after: ['the others are left', 'post of the others'] },
  'its end': { moments: status('completed', { answer: 1 }), after: ['it runs'] },
};

test('any order of overlapping messages leads to the same end state', () => {
  const begun = [status('awaiting_tool_results'), awaiting([LOOKUP, NAMELESS, MORE])];
  const end = (order: readonly string[]) => {
    const sessions = sessionsOf(...begun, ...order.map(name => CLIENT[name]?.moments ?? []));
    const session = only(sessions);
    const given = [...session.calls.values()].map(({ answer }) => answer?.body?.sha256);
    return {
      states: states(sessions),
      given,
      status: statusOf(session),
      answer: session.answer,
      pending: [...session.pending],
      size: session.size,
    };
  };
  const expected = end(Object.keys(CLIENT));
  expect(expected.states).toEqual({ call_1: 'taken', '#1': 'taken', call_2: 'taken' });
  fc.assert(
    fc.property(fc.array(fc.nat(), { minLength: 30, maxLength: 30 }), picks => {
      expect(end(anyOrder(CLIENT, picks))).toEqual(expected);
    }),
  );
});

/** A possible order of arrival: each pick selects one of the messages that may come next. */
function anyOrder(sent: Readonly<Record<string, Sent>>, picks: readonly number[]): string[] {
  const order: string[] = [];
  for (const pick of picks) {
    const next = Object.keys(sent).filter(
      name => !order.includes(name) && (sent[name]?.after ?? []).every(each => order.includes(each)),
    );
    const name = next[pick % Math.max(1, next.length)];
    if (name !== undefined) order.push(name);
  }
  return order;
}

describe('memory is bounded', () => {
  const round = (index: number): Moment[] => {
    const asked = { ...LOOKUP, key: `c${index}`, id: `c${index}` };
    return [
      ...awaiting([asked]),
      ...answered(asked, result(asked, 'x'.repeat(1_000)), 'platform'),
      ...status('running'),
    ];
  };
  const rounds = (count: number) => eventsOf(...Array.from({ length: count }, (_, index) => round(index)));

  test('keeps the latest calls of a session that runs for days, and counts all calls', () => {
    const session = only(foldSessions(rounds(500), { calls: 100 }));
    expect(session.calls.size).toBeLessThanOrEqual(100);
    expect(session.calls.size + session.forgotten).toBe(500);
    expect(session.calls.has('c499')).toBe(true);
    expect(session.rounds).toBe(500);
  });

  test('limits the bytes of the calls', () => {
    const session = only(foldSessions(rounds(200), { bytes: 20_000 }));
    expect(session.size).toBeLessThanOrEqual(20_000);
    const sizes = [...session.calls.values()].map(({ size }) => size);
    expect(session.size).toBe(sizes.reduce((sum, size) => sum + size, 0));
  });

  test('keeps all pending calls of a session', () => {
    const many = Array.from({ length: 50 }, (_, index) => ({ ...LOOKUP, key: `c${index}`, id: `c${index}` }));
    expect(only(foldSessions(eventsOf(awaiting(many)), { calls: 10 })).calls.size).toBe(50);
  });

  test('drops the oldest of many sessions', () => {
    const begun = Array.from({ length: 50 }, (_, index) => status('running', {}, `s${index}`));
    const sessions = foldSessions(eventsOf(...begun), { sessions: 10 });
    expect(sessions.list.map(({ id }) => id)).toEqual(
      Array.from({ length: 10 }, (_, index) => `s${index + 40}`),
    );
  });

  test('limits the number of warnings', () => {
    const limit = LIMITS.eventsOfCall.value;
    const flood = Array.from({ length: limit + 1 }, (_, index) => warned(`${index}`));
    const { warnings } = sessionsOf(...flood);
    expect([warnings.length, warnings.at(-1)]).toEqual([limit, `${limit}`]);
  });
});

test('never throws, whatever a file contains', () => {
  const key = fc.constantFrom('call_1', '__proto__', '');
  const body = fc.anything().map(value => new Content(Buffer.from(JSON.stringify(value) ?? 'none')));
  const thread = fc.option(fc.constantFrom(SESSION, '__proto__'), { nil: undefined });
  const fact = fc.oneof(
    fc.record({
      kind: fc.constant('awaiting'),
      pending: fc.array(
        fc.record({ key, tool_name: fc.string(), args: fc.jsonValue(), id: fc.constant(null) }),
      ),
      thread,
    }),
    fc.record({
      kind: fc.constant('answered'),
      by: fc.constant('client'),
      calls: fc.array(key),
      body,
      thread,
    }),
    fc.record({ kind: fc.constant('session'), status: fc.string(), answer: fc.jsonValue(), thread }),
    fc.constantFrom(...posts([LOOKUP]), ...answers(202), ...breaks()),
  );
  fc.assert(
    fc.property(fc.array(fact, { maxLength: 12 }), facts => {
      const sessions = foldSessions(eventsOf(facts as Moment[]));
      for (const session of sessions.list)
        for (const each of session.calls.values())
          expect(sessionCallState(session, each)).toBeTypeOf('string');
    }),
  );
});
