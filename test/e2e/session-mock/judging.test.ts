import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askJson, type Session, type SessionMockHere, startScript } from '../support/session-mock.js';
import { batch, detailsIn, failure, success } from '../support/session-wire.js';

/** Every answer to a post of results (seed 001; the order is 401, 404, format 422, finished 409, unknown id 422). */
const A = { tool_name: 'lookup_order', args: { order_id: 'A1' }, id: 'call_1' };
const B = { tool_name: 'lookup_order', args: { deep: { list: [1, { x: null }] } }, id: 'call_2' };
const NULL_1 = { tool_name: 'lookup_order', args: {}, id: null };
const NULL_2 = { tool_name: 'lookup_order', args: { n: 1 }, id: null };
const ALL = [A, B, NULL_1, NULL_2];
const UNKNOWN = { tool_name: 'lookup_order', args: {}, id: 'call_9' };

let mock: SessionMockHere;
beforeAll(async () => {
  mock = await startScript(
    { session: { rounds: [{ calls: ALL }], answer: { a: '{{results.call_1}}' } } },
    '-q',
  );
});
afterAll(() => mock.stop());

async function finished(): Promise<Session> {
  const session = await mock.fresh();
  expect((await session.results(batch(...ALL.map(call => success(call))))).status).toBe(202);
  expect(await session.status()).toBe('completed');
  return session;
}

describe.concurrent('202', () => {
  it.each<[string, object]>([
    ['a result', success(A)],
    ['an error', failure(A)],
    ['a result that is null', success(A, null)],
    ['a result that is left out', { kind: 'tool_result', tool_req: A }],
    ['a batch of one', batch(success(A))],
    ['keys that no one knows', { ...success(A), more: 1, tool_req: { ...A, more: { x: 1 } } }],
  ])('%s: an empty body, and the call is no longer pending', async (_, body) => {
    const session = await mock.fresh();
    const { status, body: text } = await session.results(body);
    expect([status, text]).toEqual([202, '']);
    expect(await session.pending()).toEqual([B, NULL_1, NULL_2]);
    expect(await session.status()).toBe('awaiting_tool_results');
  });

  it('calls without an id match by name and arguments, in any order', async () => {
    const session = await mock.fresh();
    expect((await session.results(success(NULL_2))).status).toBe(202);
    expect(await session.pending()).toEqual([A, B, NULL_1]);
    const { args: _, ...bare } = NULL_1;
    expect((await session.results(batch(success(bare), failure(B)))).status).toBe(202);
    expect(await session.pending()).toEqual([A]);
    expect((await session.results(success(A))).status).toBe(202);
    expect(await session.status()).toBe('completed');
  });

  it.each([0, '', false, null, [], {}, [[1]], 'ü😀\u0000', { a: 1e300, b: [{}] }])(
    'the result %j is returned unchanged',
    async shape => {
      const session = await mock.fresh();
      const others = [B, NULL_1, NULL_2].map(call => success(call));
      expect((await session.results(batch(success(A, shape), ...others))).status).toBe(202);
      expect((await session.changes()).answer).toEqual({ a: shape });
    },
  );
});

describe.concurrent('401', () => {
  it.each<[string, (key: string) => Record<string, string>]>([
    ['no key', () => ({})],
    ['another key', key => ({ authorization: `Bearer ${key}x` })],
    ['the beginning of it', key => ({ authorization: `Bearer ${key.slice(0, -1)}` })],
    ['no scheme', key => ({ authorization: key })],
    ['another scheme', key => ({ authorization: `Basic ${key}` })],
    ['the key and more', key => ({ authorization: `Bearer ${key}, Bearer ${key}` })],
  ])('%s, for every post and route', async (_, headersWith) => {
    const session = await mock.fresh();
    const api = `${mock.url}/api/v2/sessions`;
    const headers = headersWith(mock.key);
    for (const [path, body] of [
      [`/${session.id}/tool_results`, success(A)],
      [`/${session.id}/tool_results`, '{'],
      ['/no-such-session/tool_results', success(A)],
      ['', { agent: {} }],
    ] as const) {
      const { status, json } = await askJson(api + path, { method: 'POST', headers, body });
      expect([path, status, json]).toEqual([path, 401, { message: expect.any(String) }]);
    }
    for (const path of ['', `/${session.id}`, `/${session.id}/status`, `/${session.id}/changes`]) {
      const { status, body } = await askJson(api + path, { headers });
      expect([path, status]).toEqual([path, 401]);
      expect(body).not.toContain(mock.key);
    }
    expect(await session.pending()).toEqual(ALL);
  });
});

describe.concurrent('404', () => {
  it.each(['no-such-session', '__proto__', 'constructor', 'a%2Fb', '%ff', '%00'])(
    'a session %s, also with an invalid body',
    async id => {
      for (const body of [success(A), '{'])
        expect(await mock.known(id).results(body)).toMatchObject({
          status: 404,
          json: { detail: 'Session not found.' },
        });
    },
  );
});

describe.concurrent('409', () => {
  it.each<[string, object | string, number]>([
    ['a result for a call that was answered', success(A), 409],
    ['a result for a call that never was', success(UNKNOWN), 409],
    ['what has no format, all the same', { kind: 'tool_result' }, 422],
    ['what is not JSON', '{', 422],
  ])('the session is over: %s', async (_, body, status) => {
    const session = await finished();
    const answer = await session.results(body);
    expect(answer.status).toBe(status);
    expect(answer.json).toEqual({ detail: status === 409 ? expect.any(String) : expect.any(Array) });
  });

  it('a stopped session', async () => {
    const session = await mock.fresh();
    expect((await session.ask('', { method: 'DELETE' })).status).toBe(204);
    expect((await session.results(success(A))).status).toBe(409);
  });
});

describe.concurrent('422: an unknown tool_req.id', () => {
  const BARE = ['body', 'tool_req', 'id'];
  const SECOND = ['body', 'results', 1, 'tool_req', 'id'];

  it.each<[string, object, (string | number)[], unknown]>([
    ['bare', success(UNKNOWN), BARE, 'call_9'],
    ['an error', failure(UNKNOWN), BARE, 'call_9'],
    ['second of a batch', batch(success(A), failure(UNKNOWN)), SECOND, 'call_9'],
    ['twice in one batch', batch(success(A), success(A)), SECOND, 'call_1'],
    ['null, with arguments that are not pending', success({ ...NULL_2, args: { n: 2 } }), BARE, null],
    ['empty', success({ ...A, id: '' }), BARE, ''],
    ['null, for a call that has an id', success({ ...A, id: null }), BARE, null],
  ])('%s: the field is named, and nothing is applied', async (_, body, loc, input) => {
    const session = await mock.fresh();
    const answer = await session.results(body);
    expect(answer.status).toBe(422);
    expect(detailsIn(answer)).toEqual([{ type: expect.any(String), loc, msg: expect.any(String), input }]);
    expect(await session.pending()).toEqual(ALL);
  });
});

describe.concurrent('422: an invalid body', () => {
  const { tool_req: _, ...requestless } = failure(A);
  const { kind: _kind, ...kindless } = success(A);
  const { error: _error, ...errorless } = failure(A);
  const { origin: _origin, ...originless } = failure(A);

  it.each<[string, unknown, (string | number)[]]>([
    ['nothing', '', ['body']],
    ['no JSON', '{"kind":', ['body']],
    ['no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), ['body']],
    ['null', null, ['body']],
    ['a list', [success(A)], ['body']],
    ['deeper than 128', `${'['.repeat(129)}${']'.repeat(129)}`, ['body']],
    ['deeper than the stack', '['.repeat(500_000), ['body']],
    ['an empty object', {}, ['body', 'kind']],
    ['no kind', kindless, ['body', 'kind']],
    ['another kind', { ...success(A), kind: 'tool_error' }, ['body', 'kind']],
    ['a kind that is inherited', { ...success(A), kind: 'constructor' }, ['body', 'kind']],
    ['no tool_req', requestless, ['body', 'tool_req']],
    ['a tool_req that is null', { ...success(A), tool_req: null }, ['body', 'tool_req']],
    ['a tool_req without a name', success({ args: {}, id: 'call_1' }), ['body', 'tool_req', 'tool_name']],
    ['an id that is a number', success({ ...A, id: 1 }), ['body', 'tool_req', 'id']],
    ['args that are a list', success({ ...A, args: [] }), ['body', 'tool_req', 'args']],
    ['an error_event without error', errorless, ['body', 'error']],
    ['an error_event without origin', originless, ['body', 'origin']],
    ['an error that is not text', { ...failure(A), error: { message: 'x' } }, ['body', 'error']],
    ['a type that is not a batch', { type: 'single', results: [success(A)] }, ['body', 'type']],
    ['a batch without results', { type: 'batch' }, ['body', 'results']],
    ['a batch of an object', { type: 'batch', results: success(A) }, ['body', 'results']],
    ['a batch with null in it', batch(null, success(A)), ['body', 'results', 0]],
    ['a batch in a batch', batch(batch(success(A))), ['body', 'results', 0, 'kind']],
    ['a batch with one that is wrong', batch(success(A), errorless), ['body', 'results', 1, 'error']],
  ])('%s: the place is named, and nothing is applied', async (_, body, loc) => {
    const session = await mock.fresh();
    const answer = await session.results(body);
    expect(answer.status).toBe(422);
    expect(detailsIn(answer).map(detail => detail.loc)).toEqual([loc]);
    expect(answer.body.length).toBeLessThan(2_000);
    expect(await session.pending()).toEqual(ALL);
  });

  it('all errors are reported at once', async () => {
    const session = await mock.fresh();
    const answer = await session.results(batch({ ...failure(A), error: 1, origin: 2 }, 7, errorless));
    const places = detailsIn(answer).map(({ loc }) => loc.slice(2).join('.'));
    expect(places).toEqual(['0.error', '0.origin', '1', '2.error']);
  });
});

describe.concurrent('413', () => {
  const MOST = 10_000_000;
  const frame = JSON.stringify(success(A, '')).length;
  const sized = (bytes: number) => success(A, 'x'.repeat(bytes - frame));

  it('10,000,000 bytes are accepted, one byte more is not; the next request is answered', async () => {
    const session = await mock.fresh();
    expect((await session.results(sized(MOST + 1))).status).toBe(413);
    expect(await session.pending()).toEqual(ALL);
    expect((await session.results(sized(MOST))).status).toBe(202);
    expect(await session.pending()).toEqual([B, NULL_1, NULL_2]);
  });
});

describe('switches of a script', () => {
  /** What the API leaves open, and the switches of a script decide (platforms). */
  const A = { tool_name: 'lookup_order', args: { order_id: 'A1' }, id: 'a' };
  const B = { tool_name: 'lookup_order', args: { order_id: 'B1' }, id: 'b' };
  const UNKNOWN = { tool_name: 'lookup_order', args: {}, id: 'no one' };
  const SCRIPT = { rounds: [{ calls: [A, B] }], answer: '{{results.a}} and {{results.b}}' };

  const mocks = new Map<string, Promise<SessionMockHere>>();
  afterAll(async () => {
    for (const mock of mocks.values()) await (await mock).stop();
  });

  async function sessionWith(switches: object = {}): Promise<Session> {
    return (await mockWith(switches)).fresh();
  }

  function mockWith(switches: object): Promise<SessionMockHere> {
    const key = JSON.stringify(switches);
    const mock = mocks.get(key) ?? startScript({ session: SCRIPT, switches });
    mocks.set(key, mock);
    return mock;
  }

  describe.concurrent('batch', () => {
    const partly = batch(success(A, 'first'), success(UNKNOWN));
    const malformed = batch(success(A, 'first'), { kind: 'tool_result' });

    it.each([
      [{}, partly],
      [{}, malformed],
      [{ batch: 'atomic' }, partly],
    ])('%j: nothing of a refused batch is applied (%#)', async (switches, body) => {
      const session = await sessionWith(switches);
      expect((await session.results(body)).status).toBe(422);
      expect(await session.pending()).toEqual([A, B]);
      expect((await session.results(batch(success(A, 'second'), success(B, 'x')))).status).toBe(202);
      expect((await session.changes()).answer).toBe('second and x');
    });

    it.each([
      [partly, ['body', 'results', 1, 'tool_req', 'id']],
      [malformed, ['body', 'results', 1, 'tool_req']],
    ])('each: valid results of a refused batch are applied (%#)', async (body, loc) => {
      const session = await sessionWith({ batch: 'each' });
      const answer = await session.results(body);
      expect(answer.status).toBe(422);
      expect(detailsIn(answer).map(detail => detail.loc)).toEqual([loc]);
      expect((await session.results(success(B, 'x'))).status).toBe(202);
      expect(await session.changes()).toMatchObject({ status: 'completed', answer: 'first and x' });
    });

    it('each: a refused result can let the agent go on', async () => {
      const session = await sessionWith({ batch: 'each' });
      const answer = await session.results(batch(success(UNKNOWN), success(B, 2), success(A, 1)));
      expect(answer.status).toBe(422);
      expect(await session.changes()).toMatchObject({ status: 'completed', answer: '1 and 2' });
    });
  });

  describe.concurrent('settled: a call that was answered before', () => {
    it.each([{}, { settled: 422 }])('%j: is refused, and its first answer counts', async switches => {
      const session = await sessionWith(switches);
      expect((await session.results(success(A, 'first'))).status).toBe(202);
      const again = await session.results(success(A, 'second'));
      expect(again.status).toBe(422);
      expect(detailsIn(again)).toMatchObject([{ loc: ['body', 'tool_req', 'id'], input: 'a' }]);
      expect((await session.results(batch(success(A, 'third'), success(B, 'x')))).status).toBe(422);
      expect((await session.results(success(B, 'x'))).status).toBe(202);
      expect((await session.changes()).answer).toBe('first and x');
    });

    it('202: is accepted, and its first answer counts', async () => {
      const session = await sessionWith({ settled: 202 });
      for (const result of ['first', 'second'])
        expect((await session.results(success(A, result))).status).toBe(202);
      expect((await session.results(batch(success(A, 'third'), success(B, 'x')))).status).toBe(202);
      expect((await session.changes()).answer).toBe('first and x');
    });
  });

  describe.concurrent('tool_req', () => {
    it.each<[string, object, string]>([
      ['another name', { ...A, tool_name: 'lookup_orders' }, 'tool_name'],
      ['other arguments', { ...A, args: { order_id: 'A2' } }, 'args'],
      ['no arguments', { tool_name: A.tool_name, id: 'a' }, 'args'],
    ])(
      '%s: lenient accepts it with a note, exact refuses it and names the field',
      async (_, tool_req, field) => {
        const lenient = await sessionWith();
        const said = (await mockWith({})).stderr().length;
        expect((await lenient.results(failure(tool_req))).status).toBe(202);
        await (await mockWith({})).printsToStderr(new RegExp(`\\b${field}\\b`), said);
        const exact = await sessionWith({ tool_req: 'exact' });
        const answer = await exact.results(failure(tool_req));
        expect(answer.status).toBe(422);
        expect(detailsIn(answer).map(({ loc }) => loc)).toEqual([['body', 'tool_req', field]]);
        expect((await exact.results(success(A))).status).toBe(202);
      },
    );

    it.each<[string, object]>([
      ['a key that was added', { ...A, more: 1 }],
      ['keys in another order', { id: 'a', args: { order_id: 'A1' }, tool_name: 'lookup_order' }],
    ])('%s is not a difference', async (_, tool_req) => {
      const exact = await sessionWith({ tool_req: 'exact' });
      expect((await exact.results(success(tool_req))).status).toBe(202);
    });
  });
});
