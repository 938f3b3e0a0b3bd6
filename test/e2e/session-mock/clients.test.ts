import { describe, expect, it } from 'vitest';
import { CLIENT_NAMES, postsOf, sessionClients, statesOf } from '../support/session-client.js';
import { type SessionMockHere, startScript, startSessionMockHere } from '../support/session-mock.js';

/** Clients that share no code with us go through whole sessions. */
const runClient = sessionClients();
const lookup = (id: string | null, args: object = {}) => ({ tool_name: 'lookup_order', args, id });
const echo = (id: string | null, args: object = {}) => ({ tool_name: 'echo', args, id });

describe.concurrent.each(CLIENT_NAMES)('the %s client', name => {
  const live = (mock: SessionMockHere, id?: string) =>
    runClient(name, { url: mock.url, key: mock.key, ...(id !== undefined && { id }) });

  it('uses the session of the ready line: one call, and an answer with its result', async () => {
    await using mock = await startSessionMockHere();
    const outcome = await live(mock, mock.session);
    expect(outcome).toMatchObject({ error: null, status: 'completed', session: mock.session });
    expect(outcome.answer).toMatch(/shipped/);
    const posted = { kind: 'tool_result', tool_req: lookup('call_1', { order_id: 'A1' }), result: 'shipped' };
    expect(postsOf(outcome)).toEqual([{ body: posted, status: 202, answer: null }]);
    expect(await mock.stop()).toMatchObject({ status: 0 });
  });

  it('creates a session: rounds, parallel calls, null ids, arguments from results', async () => {
    const rounds = [
      {
        calls: [echo('call_1', { of: { deep: 7 } }), lookup(null), lookup(null), echo(null, { n: 1 })],
        expect: { call_1: { kind: 'tool_result', result: { of: { deep: 7 } } } },
      },
      { calls: [echo('call_2', { whole: '{{results.call_1}}', n: '{{results.call_1.of.deep}}' })] },
      { calls: [lookup(null)] },
    ];
    await using mock = await startScript(
      { session: { rounds, answer: 'n is {{results.call_2.n}}' } },
      '--verify',
    );
    const outcome = await live(mock);
    expect(outcome).toMatchObject({ error: null, status: 'completed', answer: 'n is 7' });
    expect(outcome.session).not.toBe(mock.session);
    const filled = { whole: { of: { deep: 7 } }, n: 7 };
    const results = [
      { kind: 'tool_result', tool_req: rounds[0]?.calls[0], result: { of: { deep: 7 } } },
      { kind: 'tool_result', tool_req: lookup(null), result: 'shipped' },
      { kind: 'tool_result', tool_req: lookup(null), result: 'shipped' },
      { kind: 'tool_result', tool_req: echo(null, { n: 1 }), result: { n: 1 } },
    ];
    expect(postsOf(outcome)).toEqual([
      { body: { type: 'batch', results }, status: 202, answer: null },
      {
        body: { kind: 'tool_result', tool_req: echo('call_2', filled), result: filled },
        status: 202,
        answer: null,
      },
      { body: { kind: 'tool_result', tool_req: lookup(null), result: 'shipped' }, status: 202, answer: null },
    ]);
    expect(statesOf(outcome)).toEqual([
      'running',
      'awaiting_tool_results call_1 lookup_order lookup_order echo',
      'running',
      'awaiting_tool_results call_2',
      'running',
      'awaiting_tool_results lookup_order',
      'running',
    ]);
    expect(await mock.stop()).toMatchObject({ status: 0 });
  });

  it('posts failures: the agent goes on, and a missing result is null', async () => {
    const calls = [
      { tool_name: 'explode', args: {}, id: 'a' },
      { tool_name: 'nothing', args: {}, id: 'b' },
      { tool_name: 'unheard_of', args: {}, id: 'c' },
    ];
    const expected = {
      a: { kind: 'error_event', error: 'Order not found' },
      b: { kind: 'tool_result', result: null },
      c: { kind: 'error_event', error: { $regex: 'unheard_of' } },
    };
    const answer = { a: '{{results.a}}', b: '{{results.b}}', c: 'of c: {{results.c}}' };
    const script = { session: { rounds: [{ calls, expect: expected }], answer } };
    await using mock = await startScript(script, '--verify');
    expect(await live(mock)).toMatchObject({
      error: null,
      status: 'completed',
      answer: { a: null, b: null, c: 'of c: ' },
    });
    const { status, stderr } = await mock.stop();
    expect(status, stderr).toBe(0);
  });

  it.each(['idle', 'failed', 'timed_out', 'interrupted'])('reads a session that ends %s', async end => {
    await using mock = await startScript({ session: { rounds: [{ calls: [lookup('a')] }], end } });
    expect(await live(mock)).toMatchObject({ error: null, status: end });
  });

  it('is refused with a wrong key or session', async () => {
    await using mock = await startSessionMockHere();
    const { url, key } = mock;
    expect(await runClient(name, { url, key: `${key}x` })).toMatchObject({
      error: expect.stringMatching(/^create: 401 \{"message":/),
    });
    expect(await runClient(name, { url, key, id: 'no-such-session' })).toMatchObject({
      error: 'changes: 404 {"detail":"Session not found."}',
    });
  });
});

describe.concurrent('several clients', () => {
  it('have a session each, which runs the script from its start', async () => {
    const rounds = [{ calls: [echo('a', { n: 1 })] }, { calls: [echo('b', { got: '{{results.a}}' })] }];
    await using mock = await startScript({ session: { rounds, answer: '{{results.b}}' } }, '--verify');
    const { url, key } = mock;
    const outcomes = await Promise.all(
      [...CLIENT_NAMES, ...CLIENT_NAMES].map(name => runClient(name, { url, key })),
    );
    expect(new Set(outcomes.map(({ session }) => session)).size).toBe(4);
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ error: null, status: 'completed', answer: { got: { n: 1 } } });
    const { status, stderr } = await mock.stop();
    expect(status, stderr).toBe(0);
  });
});
