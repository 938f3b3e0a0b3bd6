import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SessionMockHere, startScript } from '../support/session-mock.js';
import { detailsIn, idIn, success } from '../support/session-wire.js';

/** The rest of the API: what is new, what there is, and what steers a session (platforms). */
const A = { tool_name: 'lookup_order', args: {}, id: 'a' };
const B = { tool_name: 'lookup_order', args: {}, id: 'b' };

let mock: SessionMockHere;
beforeAll(async () => {
  const rounds = [{ calls: [A] }, { calls: [B] }];
  mock = await startScript({ session: { rounds, answer: 'done' } }, '-q');
});
afterAll(() => mock.stop());

describe.concurrent('changes', () => {
  it('returns every event once, by index, up to the limit', async () => {
    const session = await mock.fresh();
    const whole = await session.changes('?from_index=0&include_events=true');
    const nothingYet = { finished_at: null, error: null, answer: null };
    expect(whole).toMatchObject({ status: 'awaiting_tool_results', ...nothingYet });
    const { length } = whole.new_events;
    expect((await session.changes(`?from_index=${length - 1}`)).new_events).toEqual(
      whole.new_events.slice(-1),
    );
    expect((await session.changes('?limit=1')).new_events).toEqual(whole.new_events.slice(0, 1));
    const none = await session.ask(`/changes?from_index=${length}`);
    expect([none.status, none.body]).toEqual([204, '']);
    for (const { timestamp } of whole.new_events) expect(new Date(timestamp).toJSON()).not.toBeNull();
  });

  it('waits for news and is answered when something happens', async () => {
    const session = await mock.fresh();
    const { length } = (await session.changes()).new_events;
    const waiting = session.changes(`?from_index=${length}&wait_for_seconds=20`);
    expect((await session.results(success(A))).status).toBe(202);
    const { new_events } = await waiting;
    expect(new_events[0]).toMatchObject({ type: 'ActiveStateChangeEvent', data: { state: 'running' } });
  });

  it.each(['from_index=-1', 'from_index=x', 'limit=0', 'wait_for_seconds=soon', 'include_events=maybe'])(
    '%s is refused, with the name of the parameter',
    async query => {
      const told = await (await mock.fresh()).ask(`/changes?${query}`);
      expect(told.status).toBe(422);
      expect(detailsIn(told).map(({ loc }) => loc)).toEqual([['query', query.split('=')[0]]]);
    },
  );
});

describe.concurrent('sessions', () => {
  it('are created, listed and read', async () => {
    const tools = [{ name: 'lookup_order', description: 'Find an order', input_schema: { type: 'object' } }];
    const inline = await mock.create({ agent: { tools } });
    const overridden = await mock.create({ agent: 'name', overrides: { 'agent.tools': tools } });
    expect([inline.status, overridden.status]).toEqual([201, 201]);
    const session = mock.known(idIn(inline));
    expect((await session.ask('')).json).toMatchObject({ id: session.id });
    expect(await session.status()).toBe('awaiting_tool_results');
    expect((await session.ask('/events')).json).toMatchObject({ page: 1, items: expect.any(Array) });
    const list = await mock.ask('?size=100');
    expect(list.json).toMatchObject({ page: 1, total: expect.any(Number), items: expect.any(Array) });
    expect(list.body).toContain(session.id);
  });

  it.each([['{'], ['[]'], [{ agent: 7 }], [{ agent: { tools: [{ description: 'no name' }] } }]])(
    '%j creates no session',
    async body => {
      expect(await mock.create(body)).toMatchObject({ status: 422, json: { detail: expect.any(Array) } });
    },
  );
});

describe.concurrent('a session', () => {
  it('is paused and resumed: results are accepted meanwhile, and the agent goes on afterwards', async () => {
    const session = await mock.fresh();
    expect((await session.post('/pause')).status).toBe(202);
    expect(await session.status()).toBe('paused');
    expect((await session.results(success(A))).status).toBe(202);
    expect(await session.status()).toBe('paused');
    expect((await session.post('/resume')).status).toBe(202);
    expect(await session.status()).toBe('awaiting_tool_results');
    expect((await session.results(success(B))).status).toBe(202);
    expect(await session.status()).toBe('completed');
  });

  it('answers when asked to', async () => {
    const session = await mock.fresh();
    expect((await session.post('/force_answer')).status).toBe(202);
    expect(await session.changes()).toMatchObject({ status: 'completed', answer: 'done' });
    expect((await session.results(success(A))).status).toBe(409);
  });

  it('is stopped, which ends all waiting requests', async () => {
    const session = await mock.fresh();
    const { length } = (await session.changes()).new_events;
    const waiting = session.changes(`?from_index=${length}&wait_for_seconds=20`);
    const { status, body } = await session.ask('', { method: 'DELETE' });
    expect([status, body]).toEqual([204, '']);
    expect(await waiting).toMatchObject({ status: 'interrupted' });
  });

  it('accepts messages', async () => {
    const session = await mock.fresh();
    const message = { type: 'user_message', message: 'and B1?' };
    expect((await session.post('/messages', message)).status).toBe(202);
    expect(JSON.stringify(await session.changes())).toContain('and B1?');
    expect((await session.post('/messages', '{')).status).toBe(422);
  });
});

describe('other paths', () => {
  it('are 404, and other methods 405', async () => {
    const session = await mock.fresh();
    expect((await session.ask('/b/c')).status).toBe(404);
    expect((await session.ask('/tool_results')).status).toBe(405);
    expect((await session.post('/status')).status).toBe(405);
  });
});
