import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask } from '../support/http.js';
import { type SessionMockHere, startScript, startSessionMockHere } from '../support/session-mock.js';
import { batch, detailsIn, idIn, success } from '../support/session-wire.js';
import { unsafeIn } from '../support/text.js';

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
    expect(new_events).toMatchObject([
      { type: 'AgentEvent', data: { kind: 'tool_result', tool_req: A } },
      { type: 'ActiveStateChangeEvent', data: { state: 'running' } },
      ...new_events.slice(2),
    ]);
  });

  it.each([
    'from_index=x',
    'limit=-1',
    'wait_for_seconds=26',
    'wait_for_seconds=0.5',
    'include_events=maybe',
  ])('%s is refused, with the name of the parameter', async query => {
    const answer = await (await mock.fresh()).ask(`/changes?${query}`);
    expect(answer.status).toBe(422);
    expect(detailsIn(answer).map(({ loc }) => loc)).toEqual([['query', query.split('=')[0]]]);
  });
});

describe.concurrent('sessions', () => {
  it('are created, listed and read', async () => {
    const tools = [{ name: 'lookup_order', description: 'Find an order', input_schema: { type: 'object' } }];
    const inline = await mock.create({
      agent: { name: 'a', description: 'An agent', environments: [], tools },
    });
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

describe('hostile requests', () => {
  /** Anyone who is not meant to reach the platform does not, and what is posted does no harm. */
  const call = (id: string, args: object = {}) => ({ tool_name: 'lookup_order', args, id });

  describe.concurrent('rows 2, 3: every route', () => {
    it.each([
      ['GET', ''],
      ['POST', ''],
      ['GET', '/ID/changes'],
      ['POST', '/ID/tool_results'],
      ['DELETE', '/ID'],
    ])('%s %s refuses a foreign Host and a web page, key or not', async (method, path) => {
      await using mock = await startSessionMockHere();
      const url = `${mock.url}/api/v2/sessions${path.replace('ID', mock.session)}`;
      const status = async (headers: Record<string, string>) => {
        const sent = { authorization: `Bearer ${mock.key}`, ...headers };
        return (await ask(url, { method, headers: sent, ...(method === 'POST' && { body: '{}' }) })).status;
      };
      expect(await status({ host: 'evil.example' })).toBe(403);
      expect(await status({ origin: 'https://evil.example' })).toBe(403);
      expect(await status({ origin: 'null' })).toBe(403);
      expect(await status({ 'sec-fetch-site': 'cross-site' })).toBe(403);
      expect(await status({ host: `localhost:${mock.port}` })).not.toBe(403);
    });

    it('--allow-host accepts a name', async () => {
      await using mock = await startSessionMockHere(['--allow-host', 'platform']);
      const headers = { host: `platform:${mock.port}`, authorization: `Bearer ${mock.key}` };
      expect((await ask(`${mock.url}/api/v2/sessions`, { method: 'GET', headers })).status).toBe(200);
    });
  });

  describe.concurrent('posted data', () => {
    it('row 19: prototype keys are data', async () => {
      const args = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');
      await using mock = await startScript({
        session: { rounds: [{ calls: [call('__proto__', args)] }], answer: '{{results.__proto__}}' },
      });
      const body = `{"kind":"tool_result","tool_req":${JSON.stringify(call('__proto__', args))},"result":{"__proto__":{"x":1}}}`;
      expect((await mock.known().results(body)).status).toBe(202);
      const { body: text } = await mock.known().ask(`/changes`);
      expect(text).toContain('"answer":{"__proto__":{"x":1}}');
    });

    it('row 20: values that JSON cannot hold are accepted with a note', async () => {
      await using mock = await startScript({ session: { rounds: [{ calls: [call('a')] }] } });
      const body = `\ufeff{"kind":"tool_result","tool_req":${JSON.stringify(call('a'))},"result":{"k":1,"k":2,"n":9007199254740993}}`;
      expect((await mock.known().results(body)).status).toBe(202);
      const said = await mock.printsToStderr(/9007199254740993/);
      expect(said).toMatch(/the key "k" occurs twice/);
      expect(said).toMatch(/byte-order mark/);
    });

    it('row 24: control characters are made visible', async () => {
      const evil = '\u001b]0;title\u0007\u001b[2J\u202e\u200b\r';
      await using mock = await startScript({ session: { rounds: [{ calls: [call('a', { evil })] }] } });
      await mock.known().results(success(call(evil), evil));
      await mock.known().results({ kind: evil, tool_req: call('a') });
      await mock
        .known()
        .results({ kind: 'error_event', error: evil, origin: evil, tool_req: call('a', { evil }) });
      await mock.ask(`/${encodeURIComponent(evil)}`);
      const { stderr } = await mock.stop();
      expect(stderr).toContain('title');
      expect(unsafeIn(stderr)).toEqual([]);
    });

    it('a very long batch is judged, and its report is bounded', async () => {
      await using mock = await startScript({ session: { rounds: [{ calls: [call('a')] }] } });
      const long = 'x'.repeat(10_000);
      const unknown = Array.from({ length: 300 }, (_, index) => success(call(`${index} ${long}`)));
      const { status, body } = await mock.known().results(batch(...unknown));
      expect(status).toBe(422);
      expect(body.length).toBeLessThan(50_000);
      expect((await mock.known().results(success(call('a')))).status).toBe(202);
      const { stderr } = await mock.stop();
      expect(stderr.length).toBeLessThan(20_000);
    });

    it('ids and names may be any text', async () => {
      const ids = ['a b', 'ü', '/', '..', '%00', '"', '\u0000', 'constructor', 'x'.repeat(5_000)];
      await using mock = await startScript({ session: { rounds: [{ calls: ids.map(id => call(id)) }] } });
      expect((await mock.known().results(batch(...ids.map(id => success(call(id)))))).status).toBe(202);
      expect(await mock.known().status()).toBe('completed');
    });
  });
});
