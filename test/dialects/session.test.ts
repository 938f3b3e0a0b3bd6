import { describe, expect, test } from 'vitest';
import { sessionDialect } from '../../src/dialects/session.js';
import type { JudgedOutcome } from '../../src/protocol/outcome.js';
import { dialectContract, readSound } from './contract.js';

dialectContract(sessionDialect);

const TOOL_REQ = { tool_name: 'lookup_order', args: { order_id: 'A1' }, id: 'call_1' };
const CALL = { id: 'call_1', tool: 'lookup_order', args: { order_id: 'A1' }, request: TOOL_REQ };

describe("seed 001's examples", () => {
  const single = { kind: 'tool_result', tool_req: TOOL_REQ, result: 'shipped' };
  const failed = {
    kind: 'error_event',
    error: 'Order not found',
    origin: 'custom_tools',
    tool_req: { tool_name: 'lookup_order', args: {}, id: 'call_2' },
  };

  test('a tool_result is a declared success', () => {
    const { answer, text } = readSound(sessionDialect, single);
    expect(answer).toEqual({
      call: CALL,
      outcome: { type: 'success', basis: 'declared' },
      payload: 'shipped',
      beside: {},
    });
    expect(text).toBe('shipped');
    expect(sessionDialect.write(answer)).toEqual({ body: single, warnings: [] });
  });

  test('an error_event is a declared error', () => {
    const { answer, text } = readSound(sessionDialect, failed);
    expect(answer.outcome).toEqual({
      type: 'error',
      message: 'Order not found',
      origin: 'custom_tools',
      basis: 'declared',
    });
    expect(text).toBe('Order not found');
    expect(sessionDialect.write(answer)).toEqual({ body: failed, warnings: [] });
  });
});

describe('a result', () => {
  test.each<[string, object, unknown, string]>([
    ['absent differs from null', {}, undefined, ''],
    ['null', { result: null }, null, 'null'],
    ['a JSON text stays a text', { result: '{"a":1}' }, '{"a":1}', '{"a":1}'],
    ['other JSON', { result: { a: [1] } }, { a: [1] }, '{"a":[1]}'],
  ])('%s', (_, fields, payload, text) => {
    const body = { kind: 'tool_result', tool_req: TOOL_REQ, ...fields };
    const reading = readSound(sessionDialect, body);
    expect(reading.answer.payload).toEqual(payload);
    expect(reading.text).toBe(text);
    expect(sessionDialect.write(reading.answer).body).toEqual(body);
  });
});

describe('writes an outcome without a kind in sessions as an error', () => {
  test.each<[JudgedOutcome, string]>([
    [
      { type: 'canceled', reason: 'enough', by: 'user', basis: 'ours' },
      'The call was canceled by the user: enough',
    ],
    [{ type: 'canceled', basis: 'ours' }, 'The call was canceled.'],
    [
      { type: 'timeout', durationMs: 30_000, basis: 'ours' },
      'The tool did not answer within the time allowed (30s).',
    ],
    [{ type: 'timeout', basis: 'ours' }, 'The tool did not answer within the time allowed.'],
    [{ type: 'denied', tool: 'rm', reason: 'policy', basis: 'ours' }, 'The call of rm was denied: policy'],
    [{ type: 'unknown', raw: 7, basis: 'declared' }, 'The call ended with the unknown outcome "7".'],
  ])('%j: %s', (outcome, error) => {
    const { body, warnings } = sessionDialect.write({ call: CALL, outcome });
    expect(body).toEqual({ kind: 'error_event', error, origin: 'custom_tools', tool_req: TOOL_REQ });
    expect(warnings).toMatchObject([{ feature: outcome.type }]);
  });
});

test('repeats the call whole, with all additional fields', () => {
  const tool_req = JSON.parse('{"tool_name":"a","id":null,"more":{"b":1},"__proto__":{"c":2}}');
  const { answer } = readSound(sessionDialect, { kind: 'tool_result', tool_req, result: 1 });
  expect(answer.call).toMatchObject({ id: null, tool: 'a' });
  expect(JSON.stringify(sessionDialect.write(answer).body)).toBe(
    `{"kind":"tool_result","tool_req":${JSON.stringify(tool_req)},"result":1}`,
  );
});

test('a later kind is unknown, and keeps its fields', () => {
  const { answer, notes } = readSound(sessionDialect, {
    kind: 'tool_progress',
    tool_req: TOOL_REQ,
    result: 1,
    x: 2,
  });
  expect(answer).toEqual({
    call: CALL,
    outcome: { type: 'unknown', raw: 'tool_progress', basis: 'declared' },
    payload: 1,
    beside: { 'other fields': { x: 2 } },
  });
  expect(notes).toEqual(['unknown kind "tool_progress"']);
});

test.each<[unknown, string[]]>([
  [null, ['$: must be an object']],
  [[], ['$: must be an object']],
  [{}, ['$.kind: is required']],
  [{ kind: 'tool_result' }, ['$.tool_req: is required']],
  [
    { kind: 'tool_result', tool_req: { args: [] } },
    ['$.tool_req.tool_name: is required', '$.tool_req.args: must be an object'],
  ],
  [{ kind: 'error_event', tool_req: TOOL_REQ }, ['$.error: is required', '$.origin: is required']],
])('%j is invalid: the error has its path', (native, faults) => {
  expect(sessionDialect.read(native)).toEqual({ ok: false, faults });
});
