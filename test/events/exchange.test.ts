import { describe, expect, test } from 'vitest';
import { Content } from '../../src/events/content.js';
import type { RequestEvent } from '../../src/events/events.js';
import { type Exchange, llmTextOf, outcomeOf } from '../../src/events/exchange.js';
import { foldExchange } from '../../src/events/fold-exchange.js';
import { outcomeOfText } from '../../src/protocol/outcome.js';
import { LIMITS } from '../../src/util/limits.js';
import {
  acknowledged,
  answered,
  arrives,
  at,
  CHOICE,
  call,
  canceled,
  chose,
  EVENT,
  eventsOf,
  exchangeOf,
  gaveUp,
  INVOCATION,
  KEY,
  lost,
  type Moment,
  OAUTH,
  RESULT,
  refused,
  resultArrives,
  timedOut,
  untrackedRequest,
  VIEW,
} from './build.js';

// The orders of events are tested in model.test.ts and orders.test.ts.

test.each([
  ['a request of another purpose', { purpose: 'cancel' }],
  ['an invocation without a body', { body: undefined }],
  ['an invocation that is not JSON', { body: new Content(Buffer.from('{')) }],
  ['an invocation that does not match the schema', { body: Content.ofJson({ ...INVOCATION, id: 7 }) }],
] as [string, Partial<RequestEvent>][])('%s starts no exchange', (_, fields) => {
  const [first] = eventsOf(call()) as RequestEvent[];
  expect(foldExchange(KEY, undefined, { ...(first as RequestEvent), ...fields }, String)).toBeUndefined();
});

test('has all attempts, each with its times and its end', () => {
  const { attempts } = exchangeOf(
    at(0, call()),
    at(2, lost()),
    at(150, call({ attempt: 2 })),
    at(160, answered(503, { attempt: 2, body: 'starting' })),
    at(400, call({ attempt: 3 })),
  );
  expect(attempts).toEqual([
    { leg: 'try-1', sentAt: 0, endedAt: 2, broken: { phase: 'connect', code: 'ECONNREFUSED' } },
    { leg: 'try-2', sentAt: 150, endedAt: 160, status: 503, bodySize: 8, excerpt: 'starting' },
    { leg: 'try-3', sentAt: 400 },
  ]);
});

const REFUSAL = 'the tool did not accept the invocation: it answered 400 instead of 200';

/** The events that settle a call, its outcome, and the text for the LLM. */
test.each<[string, Moment[][], object, object, string]>([
  [
    'RT-NON200: a refusal',
    [answered(400, { body: ' bad request\n' }), gaveUp()],
    { by: 'refusal', status: 400, excerpt: 'bad request' },
    { type: 'error', message: `${REFUSAL}: bad request` },
    `Error: ${REFUSAL}: bad request`,
  ],
  [
    'an unreachable tool that responded once',
    [answered(503), call({ attempt: 2 }), lost('ECONNREFUSED', { attempt: 2 }), gaveUp()],
    { by: 'unreachable', phase: 'connect', code: 'ECONNREFUSED', attempts: 2 },
    { type: 'error', message: 'the tool could not be reached (ECONNREFUSED)' },
    'Error: the tool could not be reached (ECONNREFUSED)',
  ],
  [
    'RT-TIMEOUT: a timeout',
    [acknowledged(), timedOut(30_000)],
    { by: 'timeout', afterMs: 30_000 },
    { type: 'timeout', durationMs: 30_000 },
    '{"timeout":{"durationMs":30000}}',
  ],
  [
    'a cancel by the user',
    [canceled('person')],
    { by: 'cancel', who: 'person' },
    { type: 'canceled', by: 'user' },
    '{"canceled":{"by":"user"}}',
  ],
  [
    'a cancel by policy',
    [canceled('policy')],
    { by: 'cancel', who: 'policy' },
    { type: 'canceled', by: 'policy' },
    '{"canceled":{"by":"policy"}}',
  ],
  [
    'the cancel notice of a recorded runtime',
    [untrackedRequest('cancel').map(event => ({ ...event, calls: [KEY] })), resultArrives()],
    { by: 'cancel', who: 'person' },
    { type: 'canceled', by: 'user' },
    '{"canceled":{"by":"user"}}',
  ],
])('%s settles a call', (_, rest, settled, outcome, text) => {
  const exchange = exchangeOf(call(), ...rest);
  expect(exchange.settled).toMatchObject(settled);
  expect(outcomeOf(exchange)).toEqual({ ...outcome, basis: 'ours' });
  expect(llmTextOf(exchange)).toBe(text);
  expect(outcomeOfText(text)).toMatchObject(outcome);
});

test('RT-TEXT: the text of a result is the text for the LLM; a pending call has none', () => {
  const exchange = exchangeOf(call(), resultArrives({ text: 'Error: no' }));
  expect(exchange.settled).toMatchObject({ by: 'result', result: { ...RESULT, text: 'Error: no' } });
  expect([llmTextOf(exchange), outcomeOf(exchange)]).toEqual([
    'Error: no',
    { type: 'error', message: 'no', basis: 'convention' },
  ]);
  expect(llmTextOf(exchangeOf(call(), acknowledged()))).toBeNull();
});

test('cuts a long refusal, but never within a character', () => {
  const body = `a${'😀'.repeat(1_000)}`;
  const text = llmTextOf(exchangeOf(call(), answered(400, { body }), gaveUp())) ?? '';
  expect(text.length).toBeLessThan(1_200);
  expect(text.isWellFormed()).toBe(true);
});

const AND_WHEN = { ...CHOICE, prompt: 'And when?' };

test('RT-CHOICE: an answer without a question id answers the oldest open choice', () => {
  const exchange = exchangeOf(
    call(),
    arrives(OAUTH, { leg: 'page' }),
    arrives(CHOICE, { leg: 'where' }),
    arrives(AND_WHEN, { leg: 'when' }),
    at(9, chose(1)),
    chose(0, 'where'), // it has its answer
  );
  expect(exchange.questions.map(({ leg, isAnswered }) => [leg, isAnswered])).toEqual([
    ['page', false],
    ['where', true],
    ['when', false],
  ]);
  expect(exchange.selections).toEqual([{ at: 9, by: 'flag', selected: 1, question: 'where' }]);
});

describe('an arrival', () => {
  test('has its verdict, size, digest and response status', () => {
    const { sha256, size } = Content.ofJson(RESULT);
    const verdict = { kind: 'settles', status: 200 };
    expect(exchangeOf(call(), at(7, resultArrives())).arrivals).toEqual([
      { leg: 'back-1', at: 7, verdict, message: RESULT, sha256, size, warnings: [], status: 200 },
    ]);
  });

  test('has the reason if the guard refused it', () => {
    const [arrival] = exchangeOf(call(), refused('an Origin header', 403, { to: KEY })).arrivals;
    const verdict = { kind: 'rejected', status: 403, reason: 'an Origin header' };
    expect(arrival).toMatchObject({ message: null, status: 403, verdict });
  });

  test.each([
    ['c1', 'c1', 0],
    ['c1', null, 1],
    ['c1', undefined, 1],
    ['c1', 'c2', 1],
    [null, null, 0],
    [null, 'c2', 0],
  ])('TOOL-CALLID: sent %j, received %j: %i warnings', (given, came, count) => {
    const invocation = { ...INVOCATION, call_id: given };
    const [arrival] = exchangeOf(call({ invocation }), resultArrives({ call_id: came })).arrivals;
    expect(arrival?.warnings.map(({ id }) => id)).toEqual(Array(count).fill('TOOL-CALLID'));
  });

  test.each([
    [undefined, 0],
    [null, 0],
    ['c2', 1],
  ])('TOOL-CALLID: a question need not repeat the call_id; received %j: %i warnings', (came, count) => {
    const invocation = { ...INVOCATION, call_id: 'c1' };
    for (const question of [CHOICE, OAUTH]) {
      const [arrival] = exchangeOf(call({ invocation }), arrives({ ...question, call_id: came })).arrivals;
      expect(arrival?.warnings.map(({ id }) => id)).toEqual(Array(count).fill('TOOL-CALLID'));
    }
  });
});

describe('the verdict on a callback', () => {
  const pending = exchangeOf(call(), acknowledged());
  const settled = exchangeOf(call(), timedOut());
  const subscribed = resultArrives({ subscription: true });
  const final = { ...EVENT, text: 'closed', final: true };
  const ended = exchangeOf(call(), subscribed, arrives(final, { leg: 'e1' }));
  const verdictOn = (exchange: Exchange, message: unknown) => {
    const [request] = eventsOf(arrives(message)) as [RequestEvent];
    return foldExchange(KEY, exchange, request, String)?.arrivals.at(-1)?.verdict;
  };

  test.each([
    [{ ...RESULT, group_id: 'other' }, 'group_id is "other", the call\'s is "thread_xyz"'],
    [{ ...RESULT, id: 'other' }, 'id is "other", the call\'s is "call_abc123"'],
    [{ ...OAUTH, id: '' }, 'id is "", the call\'s is "call_abc123"'],
    [{ ...CHOICE, group_id: 'THREAD_XYZ' }, 'group_id is "THREAD_XYZ", the call\'s is "thread_xyz"'],
    [{ ...EVENT, tool_call_id: 'other' }, 'id is "other", the call\'s is "call_abc123"'],
    [{ ...VIEW, group_id: 'other' }, 'group_id is "other", the call\'s is "thread_xyz"'],
  ])('rows 7 and 8, RT-MATCH: discards %j', (message, reason) => {
    for (const exchange of [pending, settled])
      expect(verdictOn(exchange, message)).toEqual({ kind: 'discarded', status: 404, reason });
  });

  test.each([
    [{ ...RESULT, text: undefined }, '$.text: is required (or content, in the later text of the protocol)'],
    [{ type: 'tool_error' }, expect.stringMatching(/^\$\.type: is "tool_error"/)],
    ['text', '$: must be an object'],
  ])('RT-VALIDATE: rejects %j', (message, reason) => {
    expect(verdictOn(pending, message)).toEqual({ kind: 'rejected', status: 400, reason });
  });

  test.each<[string, Exchange, object, string]>([
    ['before the result', pending, EVENT, 'no subscription was opened by this call'],
    ['after the final event', ended, EVENT, 'the subscription has ended'],
  ])('RT-SUB: discards an event %s', (_, exchange, message, reason) => {
    expect(verdictOn(exchange, message)).toEqual({ kind: 'discarded', status: 404, reason });
  });

  test('RT-ACK: an event after a cancel is late, and is answered 200', () => {
    expect(verdictOn(exchangeOf(call(), subscribed, canceled()), EVENT)).toEqual({
      kind: 'late',
      status: 200,
    });
  });

  test('delivery faults, "200 lost": a repeated final event is a duplicate, answered 200', () => {
    expect(verdictOn(ended, final)).toEqual({ kind: 'duplicate', status: 200, identical: true });
  });

  test.each([
    ['a thread', { ...RESULT, group_id: 'x'.repeat(5_000_000) }],
    ['a type', { type: 'x'.repeat(5_000_000) }],
  ])('row 15: the reason for %s of five megabytes is short', (_, message) => {
    const verdict = verdictOn(pending, message);
    expect(verdict && 'reason' in verdict && verdict.reason.length).toBeLessThan(1_100);
  });
});

describe('row 15: the memory of an exchange is bounded', () => {
  const many = (moments: (index: number) => Moment[]) =>
    Array.from({ length: LIMITS.eventsOfCall.value + 100 }, (_, index) => moments(index));

  test.each([
    ['refused', (index: number) => refused('too large', 413, { leg: `${index}`, to: KEY })],
    ['noted', (index: number) => arrives({ ...EVENT, text: `${index}` }, { leg: `${index}` })],
  ])('drops the oldest callbacks that are %s, but not the result', (_, moments) => {
    const result = resultArrives({ subscription: true }, { leg: 'result' });
    const exchange = exchangeOf(call(), result, ...many(moments));
    expect(exchange.arrivals.length).toBeLessThanOrEqual(LIMITS.eventsOfCall.value);
    expect(exchange.arrivals.length + exchange.forgotten).toBe(LIMITS.eventsOfCall.value + 101);
    expect(exchange.arrivals[0]).toMatchObject({ leg: 'result', verdict: { kind: 'settles' } });
    expect(exchange.arrivals.at(-1)).toMatchObject({
      leg: `${LIMITS.eventsOfCall.value + 99}`,
      status: expect.any(Number),
    });
  });

  const flood = many(index => arrives(VIEW, { leg: `${index}` }));

  test('keeps open questions; drops answered ones, but detects their repeats', () => {
    const open = exchangeOf(call(), arrives(OAUTH, { leg: 'page' }), ...flood);
    expect([open.arrivals[0]?.leg, open.waitingFor]).toEqual(['page', OAUTH]);
    const asked = arrives(CHOICE, { leg: 'pick' });
    const closed = exchangeOf(call(), asked, chose(1), ...flood, arrives(CHOICE, { leg: 'again' }));
    expect([closed.questions, closed.selections]).toEqual([[], []]);
    expect(closed.arrivals.at(-1)?.verdict).toMatchObject({ kind: 'duplicate', identical: true });
  });

  test('drops large callbacks sooner, but never the latest one and the result', () => {
    const text = 'x'.repeat(LIMITS.keptBytes.value / 16);
    const events = Array.from({ length: 20 }, (_, index) =>
      arrives({ ...EVENT, text }, { leg: `e${index}` }),
    );
    const result = resultArrives({ subscription: true, text: text.repeat(17) }, { leg: 'result' });
    const { arrivals, forgotten } = exchangeOf(call(), result, ...events);
    const [first, ...others] = arrivals;
    expect(first?.leg).toBe('result');
    expect(others.reduce((sum, { size }) => sum + size, 0)).toBeLessThanOrEqual(17 * text.length);
    expect([arrivals.length + forgotten, arrivals.at(-1)?.leg]).toEqual([21, 'e19']);
  });

  test('keeps at most a hundred questions open', () => {
    const asked = Array.from({ length: LIMITS.openQuestions.value + 1 }, (_, index) =>
      arrives({ ...CHOICE, prompt: `${index}` }, { leg: `${index}` }),
    );
    const { questions, arrivals } = exchangeOf(call(), ...asked);
    expect(questions).toHaveLength(LIMITS.openQuestions.value);
    expect(arrivals.at(-1)?.verdict).toMatchObject({ kind: 'ignored', status: 200 });
  });
});
