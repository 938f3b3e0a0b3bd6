import { describe, expect, test } from 'vitest';
import { Content } from '../../src/exchange/content.js';
import type { RequestEvent } from '../../src/exchange/events.js';
import { begin } from '../../src/exchange/step.js';
import {
  acknowledged,
  answered,
  arrives,
  at,
  bytesArrive,
  CHOICE,
  call,
  canceled,
  chose,
  ENDPOINT,
  eventsOf,
  exchangeOf,
  gaveUp,
  INVOCATION,
  KEY,
  lingered,
  lost,
  OAUTH,
  RESULT,
  refused,
  resultArrives,
  timedOut,
} from './build.js';

describe('begin', () => {
  const [event] = eventsOf(call()) as RequestEvent[];
  const first = event as RequestEvent;

  test("an invocation's request begins an exchange", () => {
    expect(begin(KEY, first)).toEqual({
      key: KEY,
      invocation: INVOCATION,
      endpoint: ENDPOINT,
      attempts: [],
      arrivals: [],
      waitingFor: null,
      settled: null,
    });
  });

  test.each(['discovery', 'callback', 'choice', 'cancel', 'close', 'migrate'] as const)(
    'a %s does not',
    purpose => {
      expect(begin(KEY, { ...first, purpose })).toBeNull();
    },
  );

  test.each([
    ['without a body', undefined],
    ['that is not JSON', new Content(Buffer.from('{'))],
    ['that is no invocation', Content.ofJson({ ...INVOCATION, id: 7 })],
  ])('nor does an invocation %s', (_, body) => {
    expect(begin(KEY, { ...first, ...(body ? { body } : { body: undefined }) })).toBeNull();
  });
});

describe('attempts', () => {
  test('each with its times and what became of it', () => {
    const { attempts } = exchangeOf(
      at(0, call()),
      at(2, lost()),
      at(150, call({ attempt: 2 })),
      at(160, answered(503, { attempt: 2, body: 'starting' })),
      at(400, call({ attempt: 3 })),
    );
    expect(attempts).toEqual([
      { leg: 'try-1', sentAt: 0, endedAt: 2, broken: { phase: 'connect', code: 'ECONNREFUSED' } },
      { leg: 'try-2', sentAt: 150, endedAt: 160, status: 503, excerpt: 'starting' },
      { leg: 'try-3', sentAt: 400 },
    ]);
  });
});

describe('what settles a call', () => {
  test.each([
    [
      'RT-NON200: a refusal',
      [answered(400, { body: 'no' }), gaveUp()],
      { by: 'refusal', status: 400, excerpt: 'no' },
    ],
    [
      'an unreachable tool',
      [lost('ECONNRESET', { phase: 'send' }), gaveUp()],
      { by: 'unreachable', phase: 'send', code: 'ECONNRESET', attempts: 1 },
    ],
    [
      'a tool that answered once and then was gone',
      [answered(503), call({ attempt: 2 }), lost('ECONNREFUSED', { attempt: 2 }), gaveUp()],
      { by: 'unreachable', phase: 'connect', code: 'ECONNREFUSED', attempts: 2 },
    ],
    ['RT-TIMEOUT: our timeout', [acknowledged(), timedOut(5_000)], { by: 'timeout', afterMs: 5_000 }],
    ['a person', [acknowledged(), canceled('person')], { by: 'cancel', who: 'person' }],
    ['a result', [acknowledged(), resultArrives()], { by: 'result', result: RESULT, native: RESULT }],
    ['a result before the acknowledgement', [resultArrives(), acknowledged()], { by: 'result' }],
  ])('%s', (_, rest, settled) => {
    expect(exchangeOf(call(), ...rest).settled).toMatchObject(settled);
  });

  test('only the first counts', () => {
    const { settled } = exchangeOf(call(), at(9, timedOut()), resultArrives(), canceled(), gaveUp());
    expect(settled).toEqual({ by: 'timeout', at: 9, afterMs: 60_000 });
  });

  test.each([
    ['the end of the lingering', lingered()],
    ['a choice', chose(0)],
    [
      'an answer to nobody',
      at(5, [{ kind: 'response', leg: 'unknown', status: 200, headers: {}, calls: [KEY] }]),
    ],
  ])('%s does not', (_, moments) => {
    expect(exchangeOf(call(), acknowledged(), moments).settled).toBeNull();
  });
});

describe("RT-PENDING: a person's turn", () => {
  test('a question waits; its answer, or any end, ends the waiting', () => {
    expect(exchangeOf(call(), arrives(CHOICE)).waitingFor).toEqual(CHOICE);
    expect(exchangeOf(call(), arrives(OAUTH)).waitingFor).toEqual(OAUTH);
    for (const end of [chose(1), resultArrives({}, { leg: 'back-2' }), timedOut(), canceled()])
      expect(exchangeOf(call(), arrives(OAUTH), end).waitingFor).toBeNull();
  });

  test('a question after the end waits for nobody', () => {
    expect(exchangeOf(call(), timedOut(), arrives(OAUTH)).waitingFor).toBeNull();
  });
});

describe('arrivals', () => {
  test('each with its verdict, its size and digest, and what was answered', () => {
    const body = Content.ofJson(RESULT);
    expect(exchangeOf(call(), at(7, resultArrives())).arrivals).toEqual([
      {
        leg: 'back-1',
        at: 7,
        verdict: { kind: 'settles', status: 200 },
        message: RESULT,
        sha256: body.sha256,
        size: body.bytes.length,
        warnings: [],
        status: 200,
      },
    ]);
  });

  test('one that the guard refused carries the reason of the guard', () => {
    const [arrival] = exchangeOf(call(), refused('an Origin header', 403, { to: KEY })).arrivals;
    expect(arrival).toMatchObject({
      message: null,
      status: 403,
      verdict: { kind: 'rejected', status: 403, reason: 'an Origin header' },
    });
  });

  test('RT-VALIDATE: bytes that are no JSON are rejected', () => {
    const [arrival] = exchangeOf(call(), bytesArrive(Buffer.from([0xff]), { status: 400 })).arrivals;
    expect(arrival).toMatchObject({ verdict: { kind: 'rejected', reason: 'the body is not valid UTF-8' } });
  });

  test.each([
    ['c1', 'c1', 0],
    ['c1', null, 1],
    ['c1', undefined, 1],
    ['c1', 'c2', 1],
    [null, null, 0],
    [null, 'c2', 0],
  ])('TOOL-CALLID: given %j, came back %j: %i warnings', (given, came, count) => {
    const invocation = { ...INVOCATION, call_id: given };
    const [arrival] = exchangeOf(call({ invocation }), resultArrives({ call_id: came })).arrivals;
    expect(arrival?.warnings.map(({ id }) => id)).toEqual(Array(count).fill('TOOL-CALLID'));
  });
});
