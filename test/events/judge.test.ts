import { describe, expect, test } from 'vitest';
import { Content } from '../../src/events/content.js';
import type { Exchange } from '../../src/events/exchange.js';
import { judge } from '../../src/events/fold-exchange.js';
import { readCallback } from '../../src/protocol/callbacks.js';
import {
  acknowledged,
  answered,
  arrives,
  CHOICE,
  call,
  canceled,
  chose,
  EVENT,
  exchangeOf,
  gaveUp,
  lost,
  OAUTH,
  RESULT,
  resultArrives,
  timedOut,
  VIEW,
} from './build.js';

function verdictOn(exchange: Exchange, message: unknown) {
  const body = Content.ofJson(message);
  return judge(exchange, readCallback(body.json), body.sha256);
}

const pending = exchangeOf(call(), acknowledged());
const subscribed = exchangeOf(call(), resultArrives({ subscription: true }));
const SETTLED: [string, Exchange][] = [
  ['a result', exchangeOf(call(), resultArrives({ text: 'the first' }))],
  ['a timeout', exchangeOf(call(), timedOut())],
  ['a cancel', exchangeOf(call(), canceled())],
  ['a refusal', exchangeOf(call(), answered(400), gaveUp())],
  ['an unreachable tool', exchangeOf(call(), lost(), gaveUp())],
];

describe('while the call is pending', () => {
  test.each([
    ['a result settles it', RESULT, { kind: 'settles', status: 200 }],
    ['RT-PENDING: oauth holds it', OAUTH, { kind: 'holds', status: 200 }],
    ['RT-PENDING: user_choice holds it', CHOICE, { kind: 'holds', status: 200 }],
    ['RT-VIEW: a view is noted', VIEW, { kind: 'noted', status: 200 }],
  ])('%s', (_, message, verdict) => {
    expect(verdictOn(pending, message)).toEqual(verdict);
  });

  test('a result before the acknowledgement settles it too', () => {
    expect(verdictOn(exchangeOf(call()), RESULT)).toEqual({ kind: 'settles', status: 200 });
  });

  test('RT-DUP: a question again is a duplicate, another question holds', () => {
    const asked = exchangeOf(call(), arrives(CHOICE));
    expect(verdictOn(asked, CHOICE)).toEqual({ kind: 'duplicate', status: 200, identical: true });
    expect(verdictOn(asked, { ...CHOICE, prompt: 'And when?' })).toEqual({ kind: 'holds', status: 200 });
  });

  test('RT-DUP: a question again after its answer does not hold again', () => {
    const answeredChoice = exchangeOf(call(), arrives(CHOICE), chose(1));
    expect(verdictOn(answeredChoice, CHOICE)).toMatchObject({ kind: 'duplicate' });
  });
});

describe.each(SETTLED)('after %s', (_, exchange) => {
  const late =
    exchange.settled?.by === 'result'
      ? { kind: 'duplicate', status: 200, identical: false }
      : { kind: 'late', status: 200 };

  test('row 8: a result changes nothing', () => {
    expect(verdictOn(exchange, RESULT)).toEqual(late);
  });

  test('a question is late', () => {
    expect(verdictOn(exchange, OAUTH)).toEqual({ kind: 'late', status: 200 });
    expect(verdictOn(exchange, CHOICE)).toEqual({ kind: 'late', status: 200 });
  });

  test('a view is still noted', () => {
    expect(verdictOn(exchange, VIEW)).toEqual({ kind: 'noted', status: 200 });
  });
});

describe('RT-DUP: deliveries of a result', () => {
  test('the same bytes again', () => {
    expect(verdictOn(exchangeOf(call(), resultArrives()), RESULT)).toEqual({
      kind: 'duplicate',
      status: 200,
      identical: true,
    });
  });

  test('a late one again', () => {
    expect(verdictOn(exchangeOf(call(), timedOut(), resultArrives()), RESULT)).toEqual({
      kind: 'duplicate',
      status: 200,
      identical: true,
    });
  });
});

describe('rows 7 and 8, RT-MATCH: a message that names another call is discarded', () => {
  test.each([
    [{ ...RESULT, group_id: 'other' }, 'group_id is "other", the call\'s is "thread_xyz"'],
    [{ ...RESULT, id: 'other' }, 'id is "other", the call\'s is "call_abc123"'],
    [{ ...OAUTH, id: '' }, 'id is "", the call\'s is "call_abc123"'],
    [{ ...CHOICE, group_id: 'THREAD_XYZ' }, 'group_id is "THREAD_XYZ", the call\'s is "thread_xyz"'],
    [{ ...EVENT, tool_call_id: 'other' }, 'id is "other", the call\'s is "call_abc123"'],
    [{ ...VIEW, group_id: 'other' }, 'group_id is "other", the call\'s is "thread_xyz"'],
  ])('%j', (message, reason) => {
    for (const exchange of [pending, ...SETTLED.map(([, each]) => each)])
      expect(verdictOn(exchange, message)).toEqual({ kind: 'discarded', status: 404, reason });
  });
});

describe('RT-VALIDATE: what is not a callback is rejected', () => {
  test.each([
    [{ ...RESULT, text: undefined }, '$.text: is required (or content, in the later text of the protocol)'],
    [{ type: 'tool_error' }, expect.stringMatching(/^\$\.type: is "tool_error"/)],
    ['text', '$: must be an object'],
  ])('%j', (message, reason) => {
    expect(verdictOn(pending, message)).toEqual({ kind: 'rejected', status: 400, reason });
  });
});

describe('RT-SUB: events', () => {
  const final = { ...EVENT, text: 'closed', final: true };
  const discarded = (reason: string) => ({ kind: 'discarded', status: 404, reason });
  const none = 'no subscription was opened by this call';

  test('of an open subscription are noted, in any number', () => {
    expect(verdictOn(subscribed, EVENT)).toEqual({ kind: 'noted', status: 200 });
    const more = exchangeOf(call(), resultArrives({ subscription: true }), arrives(EVENT, { leg: 'e1' }));
    expect(verdictOn(more, { ...EVENT, text: 'closed' })).toEqual({ kind: 'noted', status: 200 });
    expect(verdictOn(more, final)).toEqual({ kind: 'noted', status: 200 });
  });

  test.each([
    ['before the result', pending],
    ['of a result without a subscription', exchangeOf(call(), resultArrives({ subscription: false }))],
    ['of a call that timed out', exchangeOf(call(), timedOut())],
    ['of a call that was cancelled', exchangeOf(call(), canceled(), resultArrives({ subscription: true }))],
  ])('%s are discarded', (_, exchange) => {
    expect(verdictOn(exchange, EVENT)).toEqual(discarded(none));
  });

  const ended = exchangeOf(call(), resultArrives({ subscription: true }), arrives(final, { leg: 'e1' }));

  test('after final are discarded', () => {
    expect(verdictOn(ended, EVENT)).toEqual(discarded('the subscription has ended'));
    expect(verdictOn(ended, { ...final, text: 'closed again' })).toEqual(
      discarded('the subscription has ended'),
    );
  });

  test('delivery faults, "200 lost": the final one again is a duplicate, answered 200', () => {
    expect(verdictOn(ended, final)).toEqual({ kind: 'duplicate', status: 200, identical: true });
  });

  test('a final one that was discarded ends nothing', () => {
    const early = exchangeOf(call(), arrives(final, { leg: 'e1' }), resultArrives({ subscription: true }));
    expect(verdictOn(early, EVENT)).toEqual({ kind: 'noted', status: 200 });
  });
});

describe('row 15: a reason is of a length that a person reads', () => {
  const long = 'x'.repeat(5_000_000);
  test.each([
    ['a thread', { ...RESULT, group_id: long }],
    ['a call', { ...RESULT, id: long }],
    ['a type', { type: long }],
  ])('%s of five megabytes', (_, message) => {
    const verdict = verdictOn(pending, message);
    expect('reason' in verdict && verdict.reason.length).toBeLessThan(1_100);
  });
});
