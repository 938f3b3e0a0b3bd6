import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { answerSession, answerUntilSettled } from '../../../src/agent-session/client/answer-session.js';
import { type Answerer, answeredCall, answerWith } from '../../../src/agent-session/client/answerer.js';
import { PlatformSession } from '../../../src/agent-session/client/platform-session.js';
import { sessionUrl } from '../../../src/agent-session/client/session-url.js';
import { startSessionPlatform } from '../../../src/agent-session/platform/platform.js';
import type { Event } from '../../../src/events/events.js';
import { createLog } from '../../../src/events/log.js';
import type { HttpAnswer, HttpRequest } from '../../../src/http/client.js';
import type { Outcome } from '../../../src/protocol/outcome.js';
import { LIMITS } from '../../../src/util/limits.js';
import { errorOf } from '../../support/failing.js';
import { fakeClock } from '../../support/fake-clock.js';
import { script } from '../platform/build.js';

const KEY = 'sk-very/secret key';
const CALL = { tool_name: 'lookup_order', args: { order_id: 'A1' }, id: 'call_1', tenant: 'ours' };

const json = (status: number, body: unknown, headers = {}): HttpAnswer => ({
  status,
  headers,
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
});

/** Answers a session with pending calls. @param refuse what a request is answered instead */
async function answered(
  answerer: Answerer,
  refuse: (request: HttpRequest) => HttpAnswer | null = () => null,
  calls: readonly object[] = [CALL],
  waitMs = 0,
) {
  const posts: unknown[] = [];
  const events: Event[] = [];
  const clock = fakeClock();
  const log = createLog(clock.now);
  log.subscribe(event => events.push(event));
  const send = async (request: HttpRequest): Promise<HttpAnswer> => {
    const refusal = refuse(request);
    if (refusal) return refusal;
    const status =
      JSON.stringify(posts).split('"tool_req"').length > calls.length ? 'completed' : 'awaiting_tool_results';
    if (request.url.endsWith('/status')) return json(200, { status });
    if (request.method === 'POST') posts.push(JSON.parse(Buffer.from(request.body ?? []).toString()));
    if (request.method === 'POST') return json(202, '');
    const data = { state: status, pending_tool_calls: calls };
    return /from_index=0&/.test(request.url)
      ? json(200, { status, new_events: [{ type: 'ActiveStateChangeEvent', data }] })
      : json(204, '');
  };
  const client = { send, close: async () => {} };
  const { signal } = new AbortController();
  const connection = { client, log, clock, url: 'http://p/s', thread: 's', key: KEY, signal };
  const passing = setInterval(() => clock.advance(60_000), 1);
  const end = await answerUntilSettled(connection, answerer, waitMs).finally(() => clearInterval(passing));
  return { end, posts, events };
}

const gives = (value: unknown) => answerWith({ lookup_order: () => value });
const ends = (outcome: Outcome): Answerer => ({
  answer: async call => ({ call: answeredCall(call), outcome: { ...outcome, basis: 'ours' } }),
});

it.each([['shipped'], [{ state: 'shipped' }], [null], [false], [undefined]])(
  'the result %j is posted with the whole call; undefined becomes null (platforms)',
  async result => {
    const { posts } = await answered(gives(result));
    expect(posts).toEqual([{ kind: 'tool_result', tool_req: CALL, result: result ?? null }]);
  },
);

it.each<[Outcome, RegExp]>([
  [{ type: 'error', message: 'no such order' }, /^no such order$/],
  [{ type: 'timeout', durationMs: 2_000 }, /time/],
  [{ type: 'denied', tool: 'lookup_order', reason: 'not today' }, /denied.*not today/],
  [{ type: 'canceled', by: 'user' }, /canceled/],
  [{ type: 'unknown', raw: 9 }, /9/],
])('the outcome %j is posted as an error_event', async (outcome, words) => {
  const error = expect.stringMatching(words);
  expect((await answered(ends(outcome))).posts).toEqual([
    { kind: 'error_event', tool_req: CALL, error, origin: 'custom_tools' },
  ]);
});

const circle: Record<string, unknown> = {};
circle['circle'] = circle;

it.each([
  ['a cycle', gives(circle), /JSON/],
  ['a bigint', gives(10n), /JSON/],
  ['a function', gives(() => 1), /JSON/],
  ['a toJSON that returns undefined', gives({ toJSON: () => undefined }), /JSON/],
  ['an unknown tool', answerWith({ a: () => 1, toString: () => 1 }), /lookup_order.*a, toString/],
])('%s becomes a client error', async (_, answerer, words) => {
  const error = expect.stringMatching(words);
  expect((await answered(answerer)).posts).toMatchObject([{ kind: 'error_event', error, origin: 'client' }]);
});

it.each<[number, unknown, string, RegExp]>([
  [401, { message: 'Invalid API key.' }, ': Invalid API key.', /--key/],
  [403, { detail: 'no access' }, ': no access', /--key/],
  [
    404,
    { detail: [{ loc: ['body', 0, 'kind'], msg: 'Field required' }] },
    ': body.0.kind: Field required',
    /api\/v2/,
  ],
  [307, { detail: ['a', { msg: 'b' }] }, ': a; b', /Redirects/],
  [418, { detail: { deep: 1 } }, '', /base URL/],
  [400, '<html>', '', /base URL/],
  [400, { message: `\u001b[2J${'x'.repeat(10_000)}` }, `: ␛[2J${'x'.repeat(296)}…`, /base URL/],
  [503, { detail: `key ${KEY}` }, ': key [redacted]', /log/],
])('GETs answered with %i %j end the session with a hint', async (status, body, detail, hint) => {
  const error = await errorOf(() => answered(gives(1), () => json(status, body)));
  expect(error).toMatchObject({ code: 'platform-refused', hint: expect.stringMatching(hint) });
  const { message } = error as Error;
  expect(message).toMatch(new RegExp(`^the platform answered ${status} to GET http://p/s/changes`));
  expect(message.endsWith(`wait_for_seconds=0${detail}`)).toBe(true);
});

it.each<[Record<string, string>, boolean]>([
  [{ 'retry-after': '2' }, true],
  [{ 'retry-after': '60' }, true],
  [{ 'retry-after': 'Wed, 01 Jan 2025 00:00:03 GMT' }, true],
  [{ 'retry-after': 'Wed, 01 Jan 2020 00:00:00 GMT' }, true],
  [{ 'retry-after': 'soon' }, true],
  [{}, true],
  [{ 'retry-after': `${LIMITS.retryAfterMs.value / 1_000 + 1}` }, false],
  [{ 'retry-after': '9'.repeat(400) }, false],
  [{ 'retry-after': 'Wed, 01 Jan 2098 00:00:00 GMT' }, false],
])('retries after a 429 with %j, unless the pause is more than a minute', async (headers, isAgain) => {
  let count = 0;
  const busy = () => (count++ === 0 ? json(429, '', headers) : null);
  const end = await answered(gives(1), busy).catch(error => error);
  if (isAgain) expect(end).toMatchObject({ end: { status: 'completed' } });
  else expect(end).toMatchObject({ message: expect.stringContaining('(Retry-After: ') });
});

it.each([422, 413])('a result refused with %i is replaced by an error', async status => {
  let count = 0;
  const { posts, events } = await answered(gives('x'), ({ method }) =>
    method === 'POST' && count++ === 0 ? json(status, { detail: `not ${KEY}` }) : null,
  );
  expect(posts).toMatchObject([
    { kind: 'error_event', error: expect.stringMatching(/^the result could not be posted/) },
  ]);
  const warned = events.filter(({ kind }) => kind === 'warned');
  expect(warned).toMatchObject([{ calls: ['call_1'], message: expect.stringContaining('not [redacted]') }]);
});

it('a result refused by a session that stays paused: the wait ends as a timeout', async () => {
  let count = 0;
  const paused = ({ method, url }: HttpRequest) => {
    if (method === 'POST' && ++count) return json(422, { detail: 'Not now.' });
    return count > 0 && url.endsWith('/status') ? json(200, { status: 'paused' }) : null;
  };
  const { end, events } = await answered(gives('x'), paused, [CALL], 2_500);
  expect(end).toMatchObject({ status: 'paused', isSettled: false });
  expect(events.at(-1)).toMatchObject({ kind: 'expired', what: 'timeout', afterMs: 2_500 });
  expect(count).toBe(1);
});

it.each([
  [0, ['a b']],
  [1, ['a', 'b']],
])('a batch has at most 10,000,000 bytes: %i bytes more make %j', async (more, bodies) => {
  const calls = ['a', 'b'].map(tool_name => ({ tool_name, args: {}, id: tool_name }));
  const posted = {
    type: 'batch',
    results: calls.map(tool_req => ({ kind: 'tool_result', tool_req, result: '' })),
  };
  const size = LIMITS.sessionBodyBytes.value - JSON.stringify(posted).length + more;
  const { posts } = await answered(answerWith({ a: () => 'x'.repeat(size), b: () => '' }), undefined, calls);
  const toolsIn = ({ results, tool_req }: { results?: unknown; tool_req?: unknown }) =>
    JSON.stringify(results ?? tool_req)
      .match(/(?<="tool_name":")\w/g)
      ?.join(' ');
  expect(posts.map(post => toolsIn(post as object))).toEqual(bodies);
});

it.each([
  ['http://127.0.0.1:3001', 's1', 'http://127.0.0.1:3001/api/v2/sessions/s1'],
  ['http://127.0.0.1:3001/', 's1', 'http://127.0.0.1:3001/api/v2/sessions/s1'],
  ['https://agp.example.com/api/v2', 's1', 'https://agp.example.com/api/v2/sessions/s1'],
  ['https://agp.example.com/api/v2/', 's1', 'https://agp.example.com/api/v2/sessions/s1'],
  ['https://example.com/eu/agents', 's1', 'https://example.com/eu/agents/api/v2/sessions/s1'],
  ['http://h', 'a/b?c#d é', 'http://h/api/v2/sessions/a%2Fb%3Fc%23d%20%C3%A9'],
])('URL of the session %s and %s', (base, id, url) => expect(sessionUrl(base, id)).toBe(url));

it.each([
  ['127.0.0.1:3001', 's1', /not an http or https URL/],
  ['ftp://example.com', 's1', /not an http or https URL/],
  ['http://me:secret@example.com', 's1', /credentials/],
  ['http://example.com?x=1', 's1', /query/],
  ['http://example.com', '', /invalid session id/],
  ['http://example.com', '..', /invalid session id/],
])('the base %s and the id "%s" are refused', (base, id, message) => {
  const error = { code: 'usage', message: expect.stringMatching(message) };
  expect(() => sessionUrl(base, id)).toThrow(expect.objectContaining(error));
});

const awaiting = (...calls: unknown[]) => stateChange('awaiting_tool_results', calls);
const running = () => stateChange('running', []);

function stateChange(state: unknown, pending_tool_calls: unknown) {
  return { type: 'ActiveStateChangeEvent', data: { state, pending_tool_calls } };
}

const call = (id: unknown, tool_name: unknown = 'lookup_order', args: unknown = {}) => ({
  tool_name,
  args,
  id,
});

/** A session whose platform reports these events, one group for each look. */
function reporting(...groups: readonly (readonly unknown[])[]) {
  return reportingPages(groups.flatMap(events => [{ new_events: events }, {}]));
}

/** A session whose platform answers these pages to one request for changes after another. */
function reportingPages(
  pages: { readonly new_events?: readonly unknown[]; readonly first_index?: unknown }[],
) {
  const warnings: string[] = [];
  const clock = fakeClock();
  const log = createLog(clock.now);
  log.subscribe(event => event.kind === 'warned' && warnings.push(event.message));
  const status = 'awaiting_tool_results';
  const asked: string[] = [];
  const send = async ({ url }: { url: string }) => {
    if (!url.endsWith('/status')) asked.push(new URL(url).searchParams.get('from_index') ?? '');
    const value = url.endsWith('/status') ? { status } : { status, new_events: [], ...pages.shift() };
    return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(value)) };
  };
  const client = { send, close: async () => {} };
  const { signal } = new AbortController();
  const about = { client, log, clock, url: 'http://p/s', thread: 's', key: 'sk-very-secret', signal };
  return { session: new PlatformSession(about), warnings, asked };
}

async function shown(...events: unknown[]) {
  const { session, warnings } = reporting(events);
  await session.poll(0);
  return { calls: session.listed, keys: session.listed.map(({ key }) => key), warnings };
}

describe('which calls are pending', () => {
  it.each<[string, unknown[], string[]]>([
    ['those of the latest event', [awaiting(call('a')), awaiting(call('b'), call('c'))], ['b', 'c']],
    ['none once the agent runs again', [awaiting(call('a')), running()], []],
    ['the remaining calls', [awaiting(call('a'), call('b')), awaiting(call('b'))], ['b']],
    [
      'unaffected by other events',
      [awaiting(call('a')), { type: 'PolicyEvent', data: { state: 'idle' } }],
      ['a'],
    ],
    ['null ids by a number', [awaiting(call(null), call(undefined), call(''))], ['#1', '#2', '#3']],
    [
      'the same null id for the remaining calls',
      [awaiting(call(null), call(null, 'b')), awaiting(call(null, 'b'))],
      ['#2'],
    ],
    [
      'null ids distinguished by arguments',
      [
        awaiting(call(null, 't', { a: 1, b: 2 }), call(null, 't', { a: 2 })),
        awaiting(call(null, 't', { a: 2 })),
      ],
      ['#2'],
    ],
    ['a null id that is reused later', [awaiting(call(null)), running(), awaiting(call(null))], ['#2']],
    ['an id that is reused later', [awaiting(call('a')), running(), awaiting(call('a'))], ['a (2)']],
    ['an id that looks like a generated key', [awaiting(call('#1'), call(null))], ['#1', '#2']],
    ['the first of two with the same id', [awaiting(call('a', 'x'), call('a', 'y'))], ['a']],
    [
      'the earlier calls if an unknown state has no list',
      [awaiting(call('a')), stateChange('paused', undefined)],
      ['a'],
    ],
    ['the calls of an unknown state', [awaiting(call('a')), stateChange('paused', [call('b')])], ['b']],
    ['none once the session is idle', [awaiting(call('a')), stateChange('idle', undefined)], []],
  ])('%s', async (_, events, keys) => expect((await shown(...events)).keys).toEqual(keys));

  it('contain the request as the platform sent it', async () => {
    const native = { tool_name: 'a', args: { x: 1 }, id: 7, tenant: 'ours' };
    const [pending] = (await shown(awaiting(native))).calls;
    expect(pending).toMatchObject({ key: '#1', id: null });
    expect(pending?.native).toEqual(native);
  });
});

describe('first_index says where the events of a page begin', () => {
  const [policy, calls] = [{ type: 'PolicyEvent' }, awaiting(call('a'))];
  const lost = (count: number) => `events that the platform no longer had when they were read: ${count}`;

  it.each<[string, Parameters<typeof reportingPages>[0], string[], string[]]>([
    ['later: reads on behind them', [{ first_index: 5, new_events: [policy, calls] }], ['0', '7'], [lost(5)]],
    [
      'later again: both gaps are reported',
      [
        { first_index: 2, new_events: [policy] },
        { first_index: 4, new_events: [calls] },
      ],
      ['0', '3', '5'],
      [lost(2), lost(1)],
    ],
    ['at the requested event', [{ first_index: 0, new_events: [calls] }], ['0', '1'], []],
    ['null', [{ first_index: null, new_events: [calls] }], ['0', '1'], []],
    [
      'earlier than requested: nothing is read twice',
      [{ new_events: [policy] }, { first_index: 0, new_events: [calls] }],
      ['0', '1', '2'],
      [],
    ],
  ])('%s', async (_, pages, froms, warned) => {
    const { session, warnings, asked } = reportingPages([...pages]);
    await session.poll(0);
    expect(asked).toEqual(froms);
    expect(warnings).toEqual(warned);
    expect(session.listed.map(({ key }) => key)).toEqual(['a']);
  });

  it('later, in a page without events: waits for them where it was', async () => {
    const { session, warnings, asked } = reportingPages([{ first_index: 5, new_events: [] }]);
    await session.poll(0);
    await session.poll(0);
    expect([asked, warnings]).toEqual([['0', '0'], []]);
  });

  it('text: the answer cannot be read', async () => {
    const { session } = reportingPages([{ first_index: '5', new_events: [calls] }]);
    expect(await errorOf(() => session.poll(0))).toMatchObject({ code: 'bad-answer' });
  });

  it('a session whose platform keeps one event is answered to its end', async () => {
    const rounds = ['a', 'b'].map(id => ({ calls: [call(id)] }));
    const kept = script({ rounds, answer: '{{results.b}}' }, { kept_events: 1 });
    await using platform = await startSessionPlatform({ script: kept });
    const { url, session, key } = platform;
    const warnings: string[] = [];
    const end = await answerSession(url, session, {
      key,
      answerer: gives('shipped'),
      onEvent: event => event.kind === 'warned' && warnings.push(event.message),
    });
    expect(end).toMatchObject({ status: 'completed', answer: 'shipped' });
    expect(warnings[0]).toBe(lost(2));
    expect(platform.verify()).toMatchObject({ ok: true, answered: 2 });
  });
});

describe('unreadable input', () => {
  it.each<[string, unknown, RegExp]>([
    ['no data', { type: 'ActiveStateChangeEvent' }, /no state/],
    ['no state', stateChange(7, []), /no state/],
    ['no list', stateChange('awaiting_tool_results', 'call_1'), /not a list/],
    ['an invalid call', awaiting('call_1'), /no tool_name.*call_1/],
    ['no name', awaiting({ id: 'call_1' }), /no tool_name.*call_1/],
    ['a duplicate id', awaiting(call('a'), call('a')), /"a" is pending twice/],
    [
      'a duplicate invalid id',
      awaiting({ ...call('a'), id: { toString: 1 } }, { ...call('a'), id: { toString: 1 } }),
      /toString.* is pending twice/,
    ],
  ])('%s causes a warning', async (_, event, said) =>
    expect((await shown(event)).warnings.join()).toMatch(said),
  );

  it('never throws, and no two calls share a key', async () => {
    const odd = { toString: 1 };
    const id = fc.oneof(fc.constantFrom('a', '#1', 'a (2)', null, '', odd), fc.jsonValue());
    const pending = fc.oneof(
      fc.record({ tool_name: fc.constantFrom('x', 'y'), args: fc.jsonValue(), id }),
      fc.jsonValue(),
    );
    const event = fc.oneof(
      fc.array(pending).map(calls => awaiting(...calls)),
      fc.constant(running()),
      fc.jsonValue(),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(event), async events => {
        const { session } = reporting(...events.map(each => [each]));
        const natives = new Map<string, unknown>();
        for (const _ of events) {
          await session.poll(0);
          for (const { key, native } of session.listed) {
            if (natives.has(key)) expect(natives.get(key)).toEqual(native);
            natives.set(key, native);
          }
        }
      }),
    );
  });
});
