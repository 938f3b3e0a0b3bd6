import { describe, expect, test } from 'vitest';
import { Content } from '../../src/events/content.js';
import type { RequestEvent } from '../../src/events/events.js';
import { openQuestions } from '../../src/events/exchange.js';
import { begin } from '../../src/events/fold-exchange.js';
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
  type Moment,
  OAUTH,
  RESULT,
  refused,
  resultArrives,
  timedOut,
  untrackedRequest,
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
      forgotten: 0,
      remembered: new Set(),
      questions: [],
      waitingFor: null,
      selections: [],
      settled: null,
      subscription: null,
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
    ['that is not an invocation', Content.ofJson({ ...INVOCATION, id: 7 })],
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
      { leg: 'try-2', sentAt: 150, endedAt: 160, status: 503, bodySize: 8, excerpt: 'starting' },
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
    [
      'a notice of a recorded runtime',
      [
        acknowledged(),
        untrackedRequest('cancel').map(event => ({ ...event, calls: [KEY] })),
        resultArrives(),
      ],
      { by: 'cancel', who: 'person' },
    ],
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
      'an answer to no one',
      at(5, [{ kind: 'response', leg: 'unknown', status: 200, headers: {}, calls: [KEY] }]),
    ],
  ])('%s does not', (_, moments) => {
    expect(exchangeOf(call(), acknowledged(), moments).settled).toBeNull();
  });
});

const AND_WHEN = { ...CHOICE, prompt: 'And when?' };

describe("RT-PENDING: a person's turn", () => {
  test('a question waits; its answer, or any end, ends the waiting', () => {
    expect(exchangeOf(call(), arrives(CHOICE)).waitingFor).toEqual(CHOICE);
    expect(exchangeOf(call(), arrives(OAUTH)).waitingFor).toEqual(OAUTH);
    for (const question of [OAUTH, CHOICE])
      for (const end of [resultArrives({}, { leg: 'back-2' }), timedOut(), canceled()])
        expect(exchangeOf(call(), arrives(question), end).waitingFor).toBeNull();
    expect(exchangeOf(call(), arrives(CHOICE), chose(1)).waitingFor).toBeNull();
  });

  const consentThenChoice = [call(), arrives(OAUTH, { leg: 'page' }), arrives(CHOICE, { leg: 'pick' })];

  test('the answer to one question leaves the others open, the oldest first', () => {
    expect(exchangeOf(...consentThenChoice).waitingFor).toEqual(OAUTH);
    const answered = exchangeOf(...consentThenChoice, chose(1, 'pick'));
    expect(answered.waitingFor).toEqual(OAUTH);
    expect(openQuestions(answered).map(({ leg }) => leg)).toEqual(['page']);
    expect(openQuestions(exchangeOf(...consentThenChoice, timedOut()))).toEqual([]);
  });

  test('an answer that names no question is to the oldest that it could be to', () => {
    const exchange = exchangeOf(...consentThenChoice, arrives(AND_WHEN, { leg: 'when' }), chose(1));
    expect(openQuestions(exchange).map(({ leg }) => leg)).toEqual(['page', 'when']);
    expect(exchange.selections).toMatchObject([{ selected: 1, question: 'pick' }]);
  });

  test('a question after the end waits for no one', () => {
    expect(exchangeOf(call(), timedOut(), arrives(OAUTH)).waitingFor).toBeNull();
  });
});

describe('RT-CHOICE: what was picked', () => {
  const asked = arrives(CHOICE);

  test('is kept, with the question that it answers, in the order in which it was', () => {
    const { selections } = exchangeOf(
      call(),
      arrives(CHOICE, { leg: 'where' }),
      arrives(AND_WHEN, { leg: 'when' }),
      at(5, chose(1, 'when')),
      at(9, chose(0, 'where')),
    );
    expect(selections).toEqual([
      { at: 5, by: 'flag', selected: 1, question: 'when' },
      { at: 9, by: 'flag', selected: 0, question: 'where' },
    ]);
  });

  test.each([
    ['a question that is answered', chose(0, 'back-1')],
    ['a question that never came', chose(0, 'nowhere')],
    ['none that is open', chose(0)],
  ])('an answer to %s changes nothing', (_, again) => {
    const answered = exchangeOf(call(), asked, chose(1));
    expect(exchangeOf(call(), asked, chose(1), again)).toEqual(answered);
  });

  test('consent is not a selection, nor is a choice without a value', () => {
    const decided = (what: 'consent' | 'choice'): Moment[] => [
      { kind: 'decided', what, by: 'person', calls: [KEY] },
    ];
    const both = [call(), asked, arrives(OAUTH, { leg: 'page' })];
    expect(exchangeOf(...both, decided('consent'))).toMatchObject({ selections: [], waitingFor: CHOICE });
    expect(exchangeOf(...both, decided('choice'))).toMatchObject({ selections: [], waitingFor: OAUTH });
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
