import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { startSessionPlatform } from '../../../src/agent-session/platform/platform.js';
import type { Event } from '../../../src/events/events.js';
import { LIMITS } from '../../../src/util/limits.js';
import { eventually } from '../../e2e/support/eventually.js';
import { expectCpuBelow } from '../../support/cpu-ms.js';
import { errorOf } from '../../support/failing.js';
import { fakeClock } from '../../support/fake-clock.js';
import { script, TWO_ROUNDS, toolResult } from './build.js';
import { platformWith } from './client.js';

const S = '/00000000-0000-4000-8000-000000000001';
const RESULTS = `${S}/tool_results`;
const NO_KEY = { authorization: '' };
const PLAIN = { 'content-type': 'text/plain' };
const HUGE = 'x'.repeat(11_000_000);
/** An agent as the platform's document requires it. */
const agentWith = (tools: unknown) => ({ name: 'a', description: 'An agent', environments: [], tools });
const user = (message: string) => ({ type: 'user_message', message });
const ONE = { rounds: [{ calls: [{ tool_name: 'lookup_order', args: { order_id: 'A1' }, id: 'call_1' }] }] };

describe('checks the key first, then the session, then the body', () => {
  test.each<[string, string, string, string | undefined, Record<string, string>]>([
    ['another media type', 'POST', RESULTS, '{}', PLAIN],
    ['a body too large', 'POST', RESULTS, HUGE, {}],
    ['an encoded body', 'POST', RESULTS, '{}', { 'content-encoding': 'gzip' }],
    ['an unknown method', 'PUT', RESULTS, '{}', {}],
    ['an unknown session', 'POST', '/unknown/tool_results', '{}', PLAIN],
  ])('%s: 401 without the key, 404 for an unknown session', async (_, method, path, body, headers) => {
    await using it = await platformWith({ script: script(ONE) });
    expect(await it.ask(method, path, body, { ...headers, ...NO_KEY })).toMatchObject({
      status: 401,
      body: { message: expect.any(String) },
    });
    if ('content-encoding' in headers) return;
    expect(await it.ask(method, '/unknown/tool_results', body, headers)).toMatchObject({
      status: 404,
      body: { detail: 'Session not found.' },
    });
  });

  test.each(['', RESULTS, `${S}/messages`])(
    'POST %s with another media type is 422 with a reason',
    async path => {
      await using it = await platformWith({ script: script(ONE) });
      expect(await it.ask('POST', path, JSON.stringify(toolResult('call_1')), PLAIN)).toMatchObject({
        status: 422,
        body: { detail: [{ type: 'content_type', loc: ['header', 'Content-Type'], input: 'text/plain' }] },
      });
      expect(it.platform.sessions()).toMatchObject([{ pending: [{}] }]);
    },
  );

  test('an unsupported method: 405 with the supported ones, each once', async () => {
    await using it = await platformWith();
    const allowed = (path: string) =>
      new Promise(resolve => {
        const headers = { authorization: `Bearer ${it.platform.key}` };
        request(`${it.platform.url}/api/v2/sessions${path}`, { method: 'PUT', headers }, response =>
          resolve([response.resume().statusCode, response.headers['allow']]),
        ).end();
      });
    expect(await allowed('')).toEqual([405, 'GET, POST']);
    expect(await allowed(S)).toEqual([405, 'GET, DELETE']);
    expect(await allowed(RESULTS)).toEqual([405, 'POST']);
  });
});

describe('API requests', () => {
  test('without body and media type, an empty object is assumed if requests are lenient', async () => {
    await using it = await platformWith({ script: script(ONE, { requests: 'lenient' }) });
    expect(await it.ask('POST', '')).toMatchObject({ status: 201, body: { id: expect.any(String) } });
    expect(await it.ask('POST', '', '')).toMatchObject({ status: 422 });
    expect(await it.ask('POST', '', '{}', { 'content-type': 'text/plain' })).toMatchObject({ status: 422 });
  });

  test('a page of sessions has 10 by default', async () => {
    await using it = await platformWith();
    for (let count = 0; count < 10; count++) await it.ask('POST', '', { agent: 'a' });
    expect((await it.ask('GET', '')).body).toMatchObject({ page: 1, total: 11, items: Array(10).fill({}) });
  });

  test('the same Idempotency-Key returns the same session; with another body it is refused', async () => {
    await using it = await platformWith();
    const create = (body: unknown, key: string) => it.ask('POST', '', body, { 'idempotency-key': key });
    const [one, again, other] = [
      await create({ agent: 'a' }, 'k'),
      await create({ agent: 'a' }, 'k'),
      await create({ agent: 'a' }, 'l'),
    ];
    expect([one.status, again.status, other.status]).toEqual([201, 201, 201]);
    expect(idOf(again.body)).toBe(idOf(one.body));
    expect(idOf(other.body)).not.toBe(idOf(one.body));
    expect(await create({ agent: 'b' }, 'k')).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['header', 'Idempotency-Key'] }] },
    });
    expect(it.platform.sessions()).toHaveLength(3);
  });

  test('the schema of a tool is kept whole, with any keys', async () => {
    await using it = await platformWith();
    const tools = '[{"name":"a","description":"a","input_schema":{"__proto__":{"a":1},"type":"object"}}]';
    const agent = JSON.stringify(agentWith(0)).replace(':0', `:${tools}`);
    for (const body of [`{"agent":${agent}}`, `{"agent":"a","overrides":{"agent.tools":${tools}}}`])
      expect((await it.ask('POST', '', body)).text).toContain(`tools":${tools}`);
  });

  test('warns if the script calls a tool that the client did not give', async () => {
    await using it = await platformWith({ script: script(ONE) });
    const tools = [{ name: 'lookup_order', description: 'Find an order' }];
    await it.ask('POST', '', { agent: agentWith(tools) });
    await it.ask('POST', '', { agent: 'catalog/id', overrides: { 'agent.tools': tools } });
    expect(warningsOf(it.platform.events)).toEqual([]);
    await it.ask('POST', '', { agent: agentWith([{ name: 'other', description: 'Another' }]) });
    expect(warningsOf(it.platform.events)).toEqual([expect.stringContaining('lookup_order')]);
  });
});

describe('changes', () => {
  test('a long poll is logged when it arrives, and ends with 204 after the requested time, not earlier', async () => {
    const clock = fakeClock();
    await using it = await platformWith({ clock });
    const waiting = it.ask('GET', `${S}/changes?from_index=3&wait_for_seconds=2`);
    await eventually('it waits', () => clock.pending() === 1);
    expect(it.platform.events.at(-1)).toMatchObject({ kind: 'request', purpose: 'changes' });
    clock.advance(1_999);
    expect(responsesOf(it.platform.events)).toEqual([]);
    clock.advance(1);
    expect(await waiting).toMatchObject({ status: 204 });
  });

  test('a long poll whose client disconnected ends, and is logged', async () => {
    const clock = fakeClock();
    await using it = await platformWith({ clock });
    const abort = new AbortController();
    const asking = fetch(
      `${it.platform.url}/api/v2/sessions/00000000-0000-4000-8000-000000000001/changes?from_index=3&wait_for_seconds=25`,
      {
        headers: { authorization: `Bearer ${it.platform.key}` },
        signal: abort.signal,
      },
    ).catch(() => null);
    await eventually('it waits', () => clock.pending() === 1);
    abort.abort();
    await asking;
    await eventually('it is reported', () => it.platform.events.some(({ kind }) => kind === 'broken'));
    expect(clock.pending()).toBe(0);
  });
});

describe('log and findings', () => {
  test('events of one post: the request, its response, then the consequences', async () => {
    await using it = await platformWith({ script: script(ONE) });
    const seen: Event[] = [];
    it.platform.subscribe(event => seen.push(event));
    await it.ask('POST', `${S}/tool_results`, toolResult('call_1'));
    const about = { thread: '00000000-0000-4000-8000-000000000001', calls: ['call_1'] };
    const url = '/api/v2/sessions/00000000-0000-4000-8000-000000000001/tool_results';
    expect(seen).toMatchObject([
      {
        kind: 'request',
        purpose: 'tool_results',
        dialect: 'session',
        from: 'client',
        to: 'platform',
        url,
        ...about,
      },
      { kind: 'response', status: 202, ...about },
      { kind: 'answered', by: 'platform', ...about },
      { kind: 'session', status: 'running' },
      { kind: 'session', status: 'completed' },
    ]);
  });

  test('a key that is not a valid header value is refused at once', async () => {
    expect(await errorOf(() => startSessionPlatform({ key: 'a b' }))).toMatchObject({ code: 'usage' });
    expect(await errorOf(() => startSessionPlatform({ key: '' }))).toMatchObject({ code: 'usage' });
  });
});

test('the initial session counts only if a client used it, or used no session', async () => {
  await using it = await platformWith();
  expect(it.platform.verify()).toMatchObject({ ok: false, sessions: 1 });
  const { body } = await it.ask('POST', '', { agent: 'a' });
  const { id } = body as { id: string };
  await it.ask('POST', `/${id}/tool_results`, toolResult('call_1'));
  expect(it.platform.verify()).toMatchObject({ ok: true, sessions: 1 });
  await it.ask('GET', '/00000000-0000-4000-8000-000000000001/status');
  expect(it.platform.verify()).toMatchObject({ ok: false, sessions: 2 });
});

test('refused posts and creations are findings, each with its reason', async () => {
  await using it = await platformWith();
  await it.ask('POST', RESULTS, '{}', { ...PLAIN, ...NO_KEY });
  await it.ask('POST', '/unknown/tool_results', HUGE);
  await it.ask('POST', RESULTS, '{}', PLAIN);
  await it.ask('POST', RESULTS, HUGE);
  await it.ask('POST', RESULTS, toolResult('unknown'));
  await it.ask('POST', RESULTS, toolResult('call_1'));
  await it.ask('POST', RESULTS, toolResult('call_1'));
  await it.ask('POST', '', { agent: 7 });
  await it.ask('POST', '', { agent: 'a' }, NO_KEY);
  const session = '00000000-0000-4000-8000-000000000001';
  expect(warningsOf(it.platform.events)).toContain(
    'results came after the session had ended: Session has already finished.',
  );
  expect(it.platform.verify()).toMatchObject({
    ok: false,
    problems: {
      count: 7,
      examples: [
        { kind: 'refused', session, status: 401, reason: 'Invalid or missing API key.' },
        { session: null, status: 404, reason: 'Session not found.' },
        { session, status: 422, reason: expect.stringMatching(/^header\.Content-Type: /) },
        { session, status: 413 },
        { session, status: 422, reason: expect.stringMatching(/^body\.tool_req\.id: /) },
        { what: 'session', session: null, status: 422, reason: expect.stringMatching(/^body\.agent/) },
        { what: 'session', session: null, status: 401 },
      ],
    },
  });
});

const BAD = Array(200_000).fill({});
test.each([
  ['results', RESULTS, { type: 'batch', results: BAD }, 'atomic'],
  ['results', RESULTS, { type: 'batch', results: BAD }, 'each'],
  ['messages', `${S}/messages`, { type: 'batch', messages: BAD }, 'atomic'],
  ['tools', '', { agent: agentWith(BAD) }, 'atomic'],
  ['tools in overrides', '', { agent: 'a', overrides: { 'agent.tools': BAD } }, 'atomic'],
])('of very many bad %s 100 errors are reported, and no more are read', async (_, path, body, batch) => {
  await using it = await platformWith({ script: script(TWO_ROUNDS, { batch }) });
  const detail = Array(100).fill({ type: 'missing' });
  await expectCpuBelow(1_000, async () =>
    expect(await it.ask('POST', path, body)).toMatchObject({ status: 422, body: { detail } }),
  );
});

test('row 15: all sessions together have a size limit; beyond it 429, but existing ones can still end', async () => {
  await using it = await platformWith();
  const request = JSON.stringify({ agent: 'x', note: 'x'.repeat(4 * 1024 * 1024) });
  const statuses: number[] = [];
  const most = Math.floor(LIMITS.sessionBytes.value / (4 * 1024 * 1024));
  for (let count = 0; count <= most; count++) statuses.push((await it.ask('POST', '', request)).status);
  expect(statuses.filter(status => status === 201)).toHaveLength(most - 1);
  expect(statuses.slice(most - 1)).toEqual(Array(2).fill(429));
  expect(await it.ask('POST', `${S}/messages`, user('x'.repeat(4 * 1024 * 1024)))).toMatchObject({
    status: 429,
  });
  const filling = user('x'.repeat(1024 * 1024));
  while ((await it.ask('POST', `${S}/messages`, filling)).status === 202);
  const many = { type: 'batch', messages: Array(1_000).fill(user('')) };
  while ((await it.ask('POST', `${S}/messages`, many)).status === 202);
  while ((await it.ask('POST', `${S}/pause`)).status === 202) await it.ask('POST', `${S}/resume`);
  const large = { ...toolResult('call_1'), note: 'x'.repeat(4 * 1024 * 1024) };
  expect(await it.ask('POST', `${S}/tool_results`, large)).toMatchObject({ status: 429 });
  const small = { ...toolResult('call_2'), note: 'x'.repeat(LIMITS.smallResultBytes.value) };
  expect(await it.ask('POST', `${S}/tool_results`, small)).toMatchObject({ status: 429 });
  expect(await it.ask('POST', `${S}/tool_results`, toolResult('call_1'))).toMatchObject({ status: 202 });
});

function idOf(body: unknown): string {
  return (body as { id: string }).id;
}

function warningsOf(events: readonly Event[]): string[] {
  return events.flatMap(event => (event.kind === 'warned' ? [event.message] : []));
}

function responsesOf(events: readonly Event[]): Event[] {
  return events.filter(({ kind }) => kind === 'response');
}
