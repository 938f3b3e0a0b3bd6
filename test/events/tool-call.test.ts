import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Content } from '../../src/events/content.js';
import type { Event } from '../../src/events/events.js';
import {
  isDelivered,
  stepToolCall,
  type ToolCall,
  toolCallState,
  typeOfDelivery,
} from '../../src/events/tool-call.js';
import { deepFreeze } from '../support/deep-freeze.js';
import {
  answered,
  arrives,
  CHOICE,
  call,
  EVENT,
  eventsOf,
  INVOCATION,
  KEY,
  lost,
  type Moment,
  OAUTH,
  RESULT,
  resultArrives,
  untrackedRequest,
} from './build.js';

const calls = [KEY];
const fact = (moment: Moment): Moment[] => [{ ...moment, calls }];

/** The n-th attempt of a callback, with a response status, or lost. */
function sent(
  message: object,
  leg: string,
  { attempt = 1, status }: { attempt?: number; status?: number | null } = {},
): Moment[] {
  const [request, response] = arrives(message, { leg });
  if (!request || !response) return [];
  const ending: Moment[] =
    status === undefined
      ? []
      : [
          status === null
            ? { kind: 'broken', leg, phase: 'connect', code: 'ECONNRESET', calls }
            : ({ ...response, status } as Moment),
        ];
  return [{ ...request, attempt } as Moment, ...ending];
}

function fold(...moments: readonly Moment[][]): ToolCall | undefined {
  let current: ToolCall | undefined;
  for (const event of eventsOf(...moments)) current = stepToolCall(KEY, deepFreeze(current), event);
  return current;
}

const stateOf = (...moments: readonly Moment[][]) => {
  const folded = fold(call(), ...moments);
  return folded && toolCallState(folded);
};

describe('the start of a call', () => {
  test('only an invocation starts a call', () => {
    for (const moments of [resultArrives(), answered(200), untrackedRequest('cancel')])
      expect(fold(moments)).toBeUndefined();
    expect(fold(call())).toMatchObject({
      key: KEY,
      invocation: INVOCATION,
      receivedAt: 0,
      arrivals: 1,
      deliveries: [],
    });
  });

  test('malformed: keeps the addressee', () => {
    expect(fold(call({ invocation: { ...INVOCATION, operation: 7 } }))).toMatchObject({
      invocation: null,
      addressee: { id: KEY, callback_url: INVOCATION.callback_url },
    });
  });
});

describe('callbacks', () => {
  test('have their attempts and results', () => {
    const folded = fold(
      call(),
      sent(EVENT, 'a', { status: 500 }),
      sent(EVENT, 'b', { attempt: 2, status: null }),
      sent(EVENT, 'c', { attempt: 3, status: 200 }),
      sent(RESULT, 'd'),
    );
    expect(folded?.deliveries).toMatchObject([
      {
        attempts: [
          { leg: 'a', at: 1, endedAt: 2, status: 500 },
          { leg: 'b', broken: 'ECONNRESET' },
          { leg: 'c', status: 200 },
        ],
      },
      { attempts: [{ leg: 'd', at: 7 }] },
    ]);
    expect(folded?.deliveries.map(each => [typeOfDelivery(each), isDelivered(each)])).toEqual([
      ['subscription_event', true],
      ['tool_result', false],
    ]);
  });

  test('a retry belongs to the callback with the same bytes if several are in progress', () => {
    const folded = fold(
      call(),
      sent(EVENT, 'a'),
      sent(RESULT, 'b'),
      sent(EVENT, 'c', { attempt: 2 }),
      sent(RESULT, 'd', { attempt: 2 }),
    );
    expect(folded?.deliveries.map(({ attempts }) => attempts.map(({ leg }) => leg))).toEqual([
      ['a', 'c'],
      ['b', 'd'],
    ]);
  });

  test.each(['{', '[]', '{"type":7}'])('a body that is not a message has no type: %s', source => {
    expect(typeOfDelivery({ url: '', body: new Content(Buffer.from(source)), attempts: [] })).toBeNull();
  });
});

describe('its state', () => {
  const silence = fact({ kind: 'planned', by: 'fixture', plan: 'silence' });
  const droppedAs = (sign: object) =>
    fact({ kind: 'dropped', what: 'callback', why: 'x', count: 1, ...sign });
  const dropped = droppedAs({});

  test.each<[string, Moment[][], string]>([
    ['no events', [], 'waiting'],
    ['acknowledged', [answered(200)], 'waiting'],
    ['refused', [answered(503)], 'refused'],
    ['no acknowledgement', [lost()], 'waiting'],
    ['an event', [sent(EVENT, 'a', { status: 200 })], 'waiting'],
    ['a result in progress', [sent(RESULT, 'a')], 'waiting'],
    ['a refused result', [sent(RESULT, 'a', { status: 300 }), dropped], 'undelivered'],
    ['a refused event', [sent(EVENT, 'a', { status: 404 }), droppedAs({ leg: 'a' })], 'waiting'],
    ['a view that was refused before it was sent', [droppedAs({ type: 'view_update' })], 'waiting'],
    ['a refused result, then an event', [dropped, droppedAs({ type: 'subscription_event' })], 'undelivered'],
    ['a result that a fault made unreadable', [droppedAs({ type: 'tool_rezult' })], 'undelivered'],
    ['an accepted result', [sent(RESULT, 'a', { status: 204 })], 'delivered'],
    ['an accepted result and a lost event', [sent(RESULT, 'a', { status: 200 }), dropped], 'delivered'],
    ['a choice', [sent(CHOICE, 'a', { status: 200 })], 'asking'],
    ['a consent', [sent(OAUTH, 'a', { status: 200 })], 'asking'],
    ['a consent in progress', [sent(OAUTH, 'a')], 'waiting'],
    [
      'an answered choice',
      [sent(CHOICE, 'a', { status: 200 }), sent(RESULT, 'b', { status: 200 })],
      'delivered',
    ],
    ['silence', [silence], 'silent'],
  ])('%s', (_, moments, state) => {
    expect(stateOf(...moments)).toBe(state);
  });
});

test('any order of events: attempts are never lost, and a delivered call stays delivered', () => {
  const moments = fc.constantFrom<Moment[]>(
    call({ attempt: 2 }),
    answered(200),
    answered(503),
    lost(),
    sent(EVENT, 'a', { status: 200 }),
    sent(RESULT, 'b', { status: 500 }),
    sent(RESULT, 'c', { attempt: 2, status: 200 }),
    sent(RESULT, 'd', { status: null }),
    fact({ kind: 'dropped', what: 'callback', why: 'x', count: 1 }),
    fact({ kind: 'planned', by: 'fixture', plan: 'silence' }),
  );
  fc.assert(
    fc.property(fc.array(moments), parts => {
      let current: ToolCall | undefined;
      let wasDelivered = false;
      const events: Event[] = eventsOf(call(), ...parts);
      for (const event of events) {
        current = stepToolCall(KEY, deepFreeze(current), event);
        if (!current) continue;
        if (wasDelivered) expect(toolCallState(current)).toBe('delivered');
        wasDelivered = toolCallState(current) === 'delivered';
      }
      const requests = events.filter(event => event.kind === 'request' && event.purpose === 'callback');
      expect(current?.deliveries.flatMap(({ attempts }) => attempts)).toHaveLength(requests.length);
    }),
  );
});

describe('the user action that a call waits for', () => {
  const demanded = fact({ kind: 'planned', by: 'fixture', plan: 'demand' });
  const on = sent(RESULT, 'r', { status: 200 });
  const turned = ([moment, ...rest]: Moment[], index: number): Moment[] =>
    moment ? [{ ...moment, turn: { index } } as Moment, ...rest] : [];
  const awaits = (...moments: readonly Moment[][]) => fold(call(), ...moments)?.awaits;

  test.each<[string, Moment[][], ToolCall['awaits']]>([
    ['none at the start', [], null],
    ['firing its next event', [on, demanded], 'fire'],
    ['none after the event was fired', [on, demanded, sent(EVENT, 'e', { status: 200 })], null],
    ['firing the following event', [on, demanded, sent(EVENT, 'e', { status: 200 }), demanded], 'fire'],
    [
      'none for a second event of the same kind',
      [on, sent(EVENT, 'e'), demanded, turned(sent(EVENT, 'f'), 2)],
      null,
    ],
    ['unchanged if the last callback is sent again', [on, demanded, sent(RESULT, 'again')], 'fire'],
    [
      'none after a cancel',
      [on, demanded, fact({ kind: 'dropped', what: 'event', why: 'x', count: 1 })],
      null,
    ],
    [
      'none if a fault drops the fired event',
      [on, demanded, fact({ kind: 'planned', by: 'fault', plan: 'drop' })],
      null,
    ],
    ['a choice', [sent(CHOICE, 'q', { status: 200 })], 'choice'],
    [
      'consent, even if it is sent repeatedly',
      [sent(OAUTH, 'q', { status: 500 }), sent(OAUTH, 'p', { attempt: 2 })],
      'consent',
    ],
    [
      'none after a decision',
      [sent(CHOICE, 'q'), fact({ kind: 'decided', what: 'choice', by: 'person', value: 0 })],
      null,
    ],
    [
      'none after the time limit',
      [sent(CHOICE, 'q'), fact({ kind: 'expired', what: 'answer', afterMs: 1 })],
      null,
    ],
  ])('%s', (_, moments, expected) => {
    expect(awaits(...moments)).toBe(expected);
  });
});

describe('a client without callbacks', () => {
  const asked = call().map(moment => ({ ...moment, from: 'client' }) as Moment);
  const toolCallOf = (...parts: readonly Moment[][]) =>
    eventsOf(asked, ...parts).reduce<ToolCall | undefined>(
      (before, event) => stepToolCall(KEY, before, event),
      undefined,
    );

  test('has the result in its call, and waits for no user action', () => {
    const demand: Moment = { kind: 'planned', by: 'fixture', plan: 'demand', calls };
    const done = toolCallOf([demand], answered(200, { body: '{"content":[]}' }));
    expect(done && [toolCallState(done), done.awaits]).toEqual(['delivered', null]);
    const [delivery] = done?.deliveries ?? [];
    expect(delivery && typeOfDelivery(delivery)).toBe('tool_result');
    expect(delivery?.attempts).toMatchObject([{ status: 200 }]);
  });

  test('has no result if the connection breaks', () => {
    const broken = toolCallOf(lost('CANCELLED', { phase: 'answer' }));
    expect(broken && [toolCallState(broken), broken.lost]).toEqual(['undelivered', 'CANCELLED']);
  });
});
