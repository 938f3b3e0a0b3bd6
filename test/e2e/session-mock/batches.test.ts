import { afterAll, describe, expect, it } from 'vitest';
import { type Session, type SessionMockHere, startScript } from '../support/session-mock.js';
import { batch, detailsIn, failure, success } from '../support/session-wire.js';

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
    const told = await session.results(body);
    expect(told.status).toBe(422);
    expect(detailsIn(told).map(detail => detail.loc)).toEqual([loc]);
    expect((await session.results(success(B, 'x'))).status).toBe(202);
    expect(await session.changes()).toMatchObject({ status: 'completed', answer: 'first and x' });
  });

  it('each: a refused result can let the agent go on', async () => {
    const session = await sessionWith({ batch: 'each' });
    const told = await session.results(batch(success(UNKNOWN), success(B, 2), success(A, 1)));
    expect(told.status).toBe(422);
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
      const said = (await mockWith({})).said().length;
      expect((await lenient.results(failure(tool_req))).status).toBe(202);
      await (await mockWith({})).says(new RegExp(`\\b${field}\\b`), said);
      const exact = await sessionWith({ tool_req: 'exact' });
      const told = await exact.results(failure(tool_req));
      expect(told.status).toBe(422);
      expect(detailsIn(told).map(({ loc }) => loc)).toEqual([['body', 'tool_req', field]]);
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
