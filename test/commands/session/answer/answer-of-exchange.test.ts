import { describe, expect, it } from 'vitest';
import { answerOfExchange, withParsedText } from '../../../../src/commands/session/answerers.js';
import { Content } from '../../../../src/events/content.js';
import type { Event, Fact } from '../../../../src/events/events.js';
import type { Exchange } from '../../../../src/events/exchange.js';
import { History } from '../../../../src/events/history.js';
import type { PendingCall } from '../../../../src/session/client/pending-calls.js';

const native = { tool_name: 'lookup_order', args: { order_id: 'A1' }, id: 'call_1' };
const call: PendingCall = { key: 'call_1', tool: 'lookup_order', args: native.args, id: 'call_1', native };
const calls = ['call_1'];

const invocation: Extract<Fact, { kind: 'request' }> = {
  kind: 'request',
  leg: 'l1',
  from: 'runtime',
  to: 'tool',
  purpose: 'invocation',
  method: 'POST',
  url: 'http://tool/invoke',
  headers: {},
  attempt: 1,
  calls,
  body: Content.ofJson({
    operation: 'lookup_order',
    arguments: native.args,
    id: 'call_1',
    call_id: null,
    callback_url: 'http://runtime/callback/x',
    group_id: 'thread',
  }),
};

function callback(message: object): Fact {
  return {
    ...invocation,
    leg: 'l2',
    from: 'tool',
    to: 'runtime',
    purpose: 'callback',
    body: Content.ofJson({ group_id: 'thread', id: 'call_1', ...message }),
  };
}

const result = (text: string, more: object = {}) => callback({ type: 'tool_result', text, ...more });

function exchangeAfter(...facts: readonly Fact[]): Exchange {
  const history = new History();
  for (const [seq, fact] of [invocation, ...facts].entries())
    history.apply({ ...fact, seq, at: seq } as Event);
  const { first } = history;
  if (!first) throw new Error('without exchange');
  return first;
}

const answered = (...facts: readonly Fact[]) => answerOfExchange(call, exchangeAfter(...facts));

describe('the answer to a call, of what a tool made of it', () => {
  it('is the text as it is', () => {
    expect(answered(result('{"state": "shipped"}'))).toMatchObject({
      call: { id: 'call_1', tool: 'lookup_order', request: native },
      outcome: { type: 'success' },
      payload: '{"state": "shipped"}',
    });
  });

  it.each<[string, Fact, object]>([
    [
      'an error by its prefix',
      result('Error: no such order'),
      { type: 'error', message: 'no such order', basis: 'convention' },
    ],
    [
      'a denial by its payload',
      result('{"denied":{"tool":"t","reason":"r"}}'),
      { type: 'denied', tool: 't', reason: 'r' },
    ],
    [
      'a timeout of ours',
      { kind: 'expired', what: 'timeout', afterMs: 500, calls },
      { type: 'timeout', durationMs: 500, basis: 'ours' },
    ],
    [
      'a denial of ours',
      { kind: 'denied', by: 'policy', tool: 't', reason: 'never', calls },
      { type: 'denied', reason: 'never', basis: 'ours' },
    ],
    ['a cancel', { kind: 'decided', what: 'cancel', by: 'person', calls }, { type: 'canceled', by: 'user' }],
  ])('is %s', (_, fact, outcome) => expect(answered(fact).outcome).toMatchObject(outcome));

  it('is an error of the client where the tool could not be reached', () => {
    const broken: Fact = { kind: 'broken', leg: 'l1', phase: 'connect', code: 'ECONNREFUSED', calls };
    expect(answered(broken, { kind: 'decided', what: 'give-up', by: 'policy', calls }).outcome).toEqual({
      type: 'error',
      message: expect.stringMatching(/ECONNREFUSED/),
      origin: 'client',
      basis: 'ours',
    });
  });

  it('is an error of the client where the tool asks and no one answers', () => {
    const question = {
      type: 'user_choice',
      prompt: 'Really?',
      choices: ['yes', 'no'],
      default: 1,
      response_url: 'http://tool/c',
    };
    expect(answered(callback(question)).outcome).toMatchObject({
      type: 'error',
      origin: 'client',
      message: expect.stringMatching(/asks "Really\?"/),
    });
  });

  it('keeps what the tool said beside it', () => {
    expect(answered(result('t', { display_as: [{ type: 'text', text: 'T' }] })).beside).toHaveProperty(
      'display',
    );
  });
});

describe('with the text parsed', () => {
  it.each<[string, unknown]>([
    ['{"a":[1,null]}', { a: [1, null] }],
    ['"text"', 'text'],
    ['null', null],
    ['plain words', 'plain words'],
    ['', ''],
  ])('%s is %j', (text, payload) => {
    expect(withParsedText(answered(result(text)))).toMatchObject({ answer: { payload }, notes: [] });
  });

  it.each(['{"serial":9007199254740993}', '{"a":1,"a":2}'])(
    '%s stays the text it is, since it would not survive',
    text => {
      const { answer, notes } = withParsedText(answered(result(text)));
      expect(answer.payload).toBe(text);
      expect(notes).toHaveLength(1);
    },
  );

  it('an error stays an error', () => {
    const error = answered(result('{"error":{"message":"no"}}'));
    expect(withParsedText(error)).toEqual({ answer: error, notes: [] });
  });
});
