import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Session } from '../../../src/agent-session/platform/session.js';
import { AT, batch, begun, errorEvent, TWO_ROUNDS, toolResult } from './build.js';

type Begun = ReturnType<typeof begun>;

const posted = (it: Begun, ...bodies: unknown[]): Session => {
  for (const body of bodies) it.post(body);
  return it.session;
};
const paused = (it: Begun = begun()): Begun => {
  it.session.pause();
  return it;
};
const statesOf = ({ events }: Session) =>
  events.flatMap(({ type, data }) => (type === 'ActiveStateChangeEvent' ? [data] : []));
const FIRST = [toolResult('call_1'), toolResult('none', { result: 2 }), errorEvent('none')];

describe('a session plays its script', () => {
  test('a template that is a whole value keeps its type; a missing result is null and causes a warning', () => {
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
    const { facts } = session.post(batch(toolResult('call_1', { result: { a: [7] } }), errorEvent('none')));
    expect(session.session.pending[0]?.args).toEqual({ all: { a: [7] }, part: 7, none: null });
    expect(facts).toContainEqual(
      expect.objectContaining({
        kind: 'warned',
        calls: ['b'],
        thread: 's',
        message: expect.stringContaining('results.#1'),
      }),
    );
  });
});

describe('controls of a session', () => {
  test('resumed while it waits, it publishes the remaining calls again', () => {
    const it = paused();
    const session = posted(it, toolResult('call_1'));
    const call = { tool_name: 'lookup_order', args: { order_id: 'A2' }, id: null };
    const waiting = { state: 'awaiting_tool_results', pending_tool_calls: [call, call] };
    expect(statesOf(session).at(-1)).toEqual(waiting);
    session.resume();
    expect(statesOf(session).slice(-2)).toEqual([waiting, waiting]);
    expect(it.facts.slice(-2)).toMatchObject([
      { kind: 'session', status: 'awaiting_tool_results' },
      { kind: 'awaiting' },
    ]);
  });

  test.each(['pause', 'resume', 'forceAnswer', 'cancel'] as const)(
    'after its end %s changes nothing',
    step => {
      const { session, facts } = begun();
      session.cancel();
      expect(session).toMatchObject({ status: 'interrupted', times: { finished_at: AT }, pending: [] });
      const before = [facts.length, session.events.length, session.status];
      session[step]();
      expect([facts.length, session.events.length, session.status]).toEqual(before);
    },
  );
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
const outcome = ({ status, roundsBegun, pending, settled }: Session) => ({
  status,
  roundsBegun,
  pending,
  kinds: settled.map(({ answer }) => answer.kind).sort(),
});

test('any order and any partition of the posts ends in the same state', () => {
  const expected = outcome(posted(begun(), batch(...FIRST)));
  fc.assert(
    fc.property(posts, bodies => {
      const it = begun();
      for (const results of bodies) expect(it.post(bodyOf(results)).status).toBe(202);
      expect(outcome(it.session)).toEqual(expected);
    }),
  );
});

const BAD = [toolResult('unknown'), { kind: 'x' }, null];

test('a refused body changes nothing, for any error at any position', () => {
  const fault = fc.constantFrom<unknown>(...BAD, toolResult('call_2'), {});
  fc.assert(
    fc.property(posts, fault, fc.nat(3), (bodies, bad, place) => {
      const it = begun();
      const before = JSON.stringify(it.session);
      const { status, facts } = it.post(batch(...bodies.flat().toSpliced(place, 0, bad)));
      expect([status, facts, JSON.stringify(it.session)]).toEqual([422, [], before]);
    }),
  );
});

test.each(['cancel', 'forceAnswer'] as const)('after %s, pending calls count as unanswered', end => {
  const { session } = begun();
  session[end]();
  const kinds = session.problems().map(({ kind }) => kind);
  expect(kinds).toEqual(['unanswered', 'unanswered', 'unanswered', 'unreached']);
});

/* Which bodies are refused, and where, is in test/e2e/session-mock. */

test('a missing result is not null, but a missing id is', () => {
  const answerTo = (body: unknown) => begun().judge(body).settles[0]?.answer;
  expect(answerTo(toolResult('call_1', {}))).not.toHaveProperty('result');
  expect(answerTo(toolResult('call_1', { result: null }))).toHaveProperty('result', null);
  const { id: _, ...tool_req } = toolResult('none').tool_req;
  expect(begun().judge({ ...toolResult('none'), tool_req }).settles).toMatchObject([{ call: { key: '#1' } }]);
});

test('a detail quotes at most 200 characters', () => {
  const { details } = begun().judge({ ...toolResult('call_1'), kind: 'x'.repeat(100_000) });
  expect(JSON.stringify(details).length).toBeLessThan(500);
});

test('an ended session checks the format first, with batch: each too', () => {
  const each = begun(TWO_ROUNDS, { batch: 'each' });
  each.session.cancel();
  const mixed = batch(toolResult('call_1'), { kind: 'x' });
  expect(each.judge(mixed)).toMatchObject({ status: 422, settles: [] });
});

test.each<[string, object | undefined, unknown, object]>([
  ['an empty batch', { requests: 'lenient' }, batch(), { message: 'the batch of results is empty' }],
  [
    'a call answered twice',
    { settled: 202 },
    batch(toolResult('call_1'), errorEvent('call_1')),
    { key: 'call_1' },
  ],
])('%s is accepted with a warning', (_, switches, body, warning) => {
  expect(begun(TWO_ROUNDS, switches).judge(body)).toMatchObject({ status: 202, warnings: [warning] });
});

test('row 19: keys of prototypes are ordinary keys, and change nothing', () => {
  const calls = [{ tool_name: 'a', args: JSON.parse('{"__proto__":{"x":1}}'), id: null }];
  const statusOf = (args: string) =>
    begun({ rounds: [{ calls }] }, { tool_req: 'exact' }).judge(
      `{"kind":"tool_result","tool_req":{"tool_name":"a","args":${args}}}`,
    ).status;
  expect(['{"__proto__":{"x":1}}', '{"__proto__":{"x":2}}', '{}'].map(statusOf)).toEqual([202, 422, 422]);
  expect({}).not.toHaveProperty('x');
});
