import { describe, expect, test } from 'vitest';
import { parseSessionScript } from '../../../src/fixtures/session-script.js';
import { platformWith } from './client.js';

const S = '/00000000-0000-4000-8000-000000000001';
const call = (id: string, order_id: string) => ({ tool_name: 'lookup_order', args: { order_id }, id });
const result = (id: string, order_id: string) => ({
  kind: 'tool_result',
  tool_req: call(id, order_id),
  result: `${order_id} shipped`,
});
const user = (message: string) => ({ type: 'user_message', message });

/** A platform whose agent follows this script. */
const playing = (session: object, more: object = {}) =>
  platformWith({ script: parseSessionScript({ version: 1, session, ...more }) });

describe('scripts', () => {
  test('an id that comes again in a later round is another call, with its own expectation and result', async () => {
    const expected = (text: string) => ({ expect: { xml_0: { kind: 'tool_result', result: text } } });
    await using it = await playing({
      rounds: [
        { calls: [call('xml_0', 'A1')], ...expected('A1 shipped') },
        { calls: [call('xml_0', 'A2')], ...expected('A2 shipped') },
      ],
      answer: '{{results.xml_0}}',
    });
    expect(await it.ask('POST', `${S}/tool_results`, result('xml_0', 'A1'))).toMatchObject({ status: 202 });
    expect(await it.ask('POST', `${S}/tool_results`, result('xml_0', 'A2'))).toMatchObject({ status: 202 });
    const [session] = it.platform.sessions();
    expect(session?.settled.map(each => each.call.key)).toEqual(['xml_0', 'xml_0 (2)']);
    expect(session).toMatchObject({ status: 'completed', answer: 'A2 shipped' });
    expect(it.platform.verify()).toMatchObject({ ok: true, calls: 2 });
  });

  test('an idle session goes on after a message; rounds that no message began are unreached', async () => {
    await using it = await playing({
      rounds: [],
      answer: 'hello',
      end: 'idle',
      on_message: [
        { rounds: [{ calls: [call('a', 'B1')] }], answer: { order: '{{results.a}}' }, end: 'idle' },
        { rounds: [{ calls: [call('b', 'B2')] }] },
      ],
    });
    expect(it.platform.sessions()).toMatchObject([{ status: 'idle', answer: 'hello' }]);
    await it.ask('POST', `${S}/messages`, user('and B1?'));
    expect((await it.ask('GET', `${S}/status`)).body).toMatchObject({
      status: 'awaiting_tool_results',
      pending_tool_calls: [call('a', 'B1')],
    });
    await it.ask('POST', `${S}/tool_results`, result('a', 'B1'));
    expect(it.platform.sessions()).toMatchObject([{ status: 'idle', answer: { order: 'B1 shipped' } }]);
    expect(it.platform.verify().problems.examples).toMatchObject([{ kind: 'unreached', rounds: 1, of: 2 }]);
  });

  test('a result that is neither text nor object is answered as text', async () => {
    await using it = await playing({ rounds: [{ calls: [call('a', 'A1')] }], answer: '{{results.a}}' });
    await it.ask('POST', `${S}/tool_results`, { ...result('a', 'A1'), result: [1, 2] });
    expect(it.platform.sessions()).toMatchObject([{ answer: '[1,2]' }]);
  });

  test('faults come in order, are no findings, and a lost answer was applied', async () => {
    await using it = await playing(
      { rounds: [{ calls: [call('a', 'A1')] }] },
      { faults: { create: [429], tool_results: [503, 'ok', 503, 'lost'] } },
    );
    const post = () => it.ask('POST', `${S}/tool_results`, result('a', 'A1'));
    expect(await it.ask('POST', '', { agent: 'a' })).toMatchObject({
      status: 429,
      body: { message: expect.any(String), detail: [{ type: 'plan_limit', scope: 'org' }] },
    });
    expect(await post()).toMatchObject({ status: 503 });
    expect(it.platform.sessions()).toMatchObject([{ settled: [] }]);
    expect(await post()).toMatchObject({ status: 202 });
    expect(it.platform.verify()).toMatchObject({ ok: true });

    await using other = await playing(
      { rounds: [{ calls: [call('a', 'A1')] }] },
      { faults: { tool_results: ['lost'] } },
    );
    await expect(other.ask('POST', `${S}/tool_results`, result('a', 'A1'))).rejects.toThrow();
    expect(other.platform.verify()).toMatchObject({ ok: true, answered: 1 });
  });

  test('a lost answer is lost also if it would refuse the request', async () => {
    await using it = await playing(
      { rounds: [{ calls: [call('a', 'A1')] }] },
      { faults: { tool_results: ['lost'] } },
    );
    await expect(it.ask('POST', `${S}/tool_results`, { kind: 'other' })).rejects.toThrow();
    expect(it.platform.verify()).toMatchObject({ ok: false, answered: 0 });
  });

  test('events beyond kept_events are evicted, and first_index says where the others begin', async () => {
    await using it = await playing(
      { rounds: [{ calls: [call('a', 'A1')] }] },
      { switches: { kept_events: 1 } },
    );
    expect((await it.ask('GET', `${S}/changes`)).body).toMatchObject({
      first_index: 2,
      new_events: [{ data: { state: 'awaiting_tool_results' } }],
    });
  });

  test.each([
    ['failed', 'internal', { type: 'AgentErrorEvent' }],
    ['timed_out', 'timeout', { type: 'AgentCompletionEvent', data: { reason: 'timed_out' } }],
    ['interrupted', null, { type: 'AgentCompletionEvent', data: { reason: 'stopped' } }],
    ['completed', null, { type: 'AgentCompletionEvent', data: { reason: 'finished' } }],
  ])('a session that ends %s has the error code %s', async (end, error_code, event) => {
    await using it = await playing({ rounds: [], end, outcome: 'partial' });
    const { body } = await it.ask('GET', `${S}/changes`);
    expect(body).toMatchObject({ status: end, error_code, outcome: 'partial', pending_tool_calls: [] });
    expect((body as { new_events: unknown[] }).new_events.at(-1)).toMatchObject(event);
  });
});

describe('the API besides sessions and their results', () => {
  test('the quota counts sessions that are not over; a link is shared', async () => {
    await using it = await platformWith();
    expect((await it.ask('GET', '/quota')).body).toEqual({
      scope: 'org',
      limit: 1_000,
      active: 1,
      available: 999,
    });
    expect((await it.ask('POST', `${S}/share`)).body).toEqual({ share_url: `/share${S}` });
    await it.ask('DELETE', S);
    expect((await it.ask('GET', '/quota')).body).toMatchObject({ active: 0, available: 1_000 });
  });

  test('the list is filtered by status, agent, group, first message and time', async () => {
    await using it = await platformWith();
    await it.ask('POST', '', { agent: 'one', group_id: 'g', messages: 'Where is A1?' });
    const agentsAt = async (query: string) => {
      const { items } = (await it.ask('GET', query)).body as { items: { agent: string }[] };
      return items.map(({ agent }) => agent);
    };
    expect(await agentsAt('')).toEqual(['one', 'mock']);
    expect(await agentsAt('?sort=created_at')).toEqual(['mock', 'one']);
    for (const query of ['agent=one', 'group_id=g', 'search=where', 'agent=one&status=awaiting_tool_results'])
      expect(await agentsAt(`?${query}`)).toEqual(['one']);
    for (const query of ['status=failed', 'finished_after=2020-01-01T00:00:00Z', 'parent_session_id=x'])
      expect(await agentsAt(`?${query}`)).toEqual([]);
  });
});
