import { describe, expect, test } from 'vitest';
import { answerOf, readMcpAnswer } from '../../src/events/answer.js';
import { Content } from '../../src/events/content.js';
import type { Event } from '../../src/events/events.js';
import { answeredAttempt, llmTextOf, outcomeOf } from '../../src/events/exchange.js';
import { History } from '../../src/events/history.js';

const json = (value: unknown) => readMcpAnswer({ ok: true, value, notes: [] });

const content = [{ type: 'text', text: 'three' }];

describe('the response to tools/call', () => {
  test.each([
    ['isError: false', { content, isError: false }, { type: 'success', basis: 'declared' }, 'three'],
    ['no isError', { content }, { type: 'success', basis: 'assumed' }, 'three'],
    [
      'isError: true',
      { content, isError: true },
      { type: 'error', message: 'three', basis: 'declared' },
      'three',
    ],
  ])('%s', (_, native, outcome, text) => {
    expect(json(native)).toMatchObject({ native, outcome, text, notes: [] });
  });

  test('a JSON-RPC error is a declared outcome; its text is not a result', () => {
    const refused = json({ error: { code: -32602, message: 'Unknown tool: x' } });
    expect(refused).toMatchObject({
      reading: null,
      outcome: { type: 'error', message: 'Unknown tool: x', code: '-32602', basis: 'declared' },
      text: 'Error: Unknown tool: x',
    });
  });

  test.each([
    ['another value', { ok: true, value: { content: 7 }, notes: [] } as const],
    ['invalid JSON', { ok: false, reason: 'not valid JSON' } as const],
  ])('%s is an error outcome of our own, with the fault', (_, reading) => {
    const answer = readMcpAnswer(reading);
    expect(answer).toMatchObject({ reading: null, outcome: { type: 'error', basis: 'ours' } });
    expect(answer.text).toContain('not a CallToolResult');
  });
});

const call = { calls: ['c1'], thread: 'mcp' };

const request: Event = {
  kind: 'request',
  seq: 0,
  at: 1,
  ...call,
  leg: 'l1',
  from: 'client',
  to: 'tool',
  purpose: 'invocation',
  dialect: 'mcp',
  method: 'tools/call',
  url: 'stdio:node',
  headers: {},
  attempt: 1,
  body: Content.ofJson({ operation: 'add', arguments: { a: 1 }, id: 'c1' }),
};

const response = (status: number, body: unknown): Event => ({
  kind: 'response',
  seq: 1,
  at: 5,
  ...call,
  leg: 'l1',
  status,
  headers: {},
  body: Content.ofJson(body),
});

function exchangeAfter(...events: Event[]) {
  const history = new History();
  for (const event of events) history.apply(event);
  const { first } = history;
  if (!first) throw new Error('no exchange began');
  return first;
}

describe('a call over MCP', () => {
  test('is settled by its response, and has no acknowledgement', () => {
    const exchange = exchangeAfter(request, response(200, { content, isError: false }));
    expect(exchange).toMatchObject({ dialect: 'mcp', settled: { by: 'answer', at: 5 } });
    expect(answeredAttempt(exchange)).toBeUndefined();
    expect(outcomeOf(exchange)).toEqual({ type: 'success', basis: 'declared' });
    expect(llmTextOf(exchange)).toBe('three');
    expect(answerOf(exchange, outcomeOf(exchange))).toMatchObject({
      dialect: 'mcp',
      answer: { call: { id: 'c1', tool: 'add', args: { a: 1 } } },
    });
  });

  test('is not settled by a refusal until the client gives up', () => {
    const refused = response(500, 'boom');
    const decided: Event = { kind: 'decided', seq: 2, at: 6, what: 'give-up', by: 'policy', calls: ['c1'] };
    expect(exchangeAfter(request, refused).settled).toBeNull();
    expect(exchangeAfter(request, refused, decided).settled).toMatchObject({ by: 'refusal', status: 500 });
  });

  test('is not settled again after a timeout', () => {
    const expired: Event = { kind: 'expired', seq: 1, at: 4, what: 'timeout', afterMs: 3, calls: ['c1'] };
    const exchange = exchangeAfter(request, expired, response(200, { content }));
    expect(exchange.settled).toMatchObject({ by: 'timeout' });
  });
});
