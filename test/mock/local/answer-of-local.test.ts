import { describe, expect, test } from 'vitest';
import { writeAs } from '../../../src/dialects/dialects.js';
import type { SpokenReply } from '../../../src/mock/local-tool.js';
import { answerOfLocal } from '../../../src/mock/local-tool.js';

const CALL = { id: 'call_1', tool: 'op', args: { a: 1 }, thread: 's1', request: { tool_name: 'op' } };

describe('how a call was answered here, in the terms of the one model', () => {
  test.each<[string, SpokenReply, object]>([
    [
      'a payload is what the model gets, whatever it looks like',
      { kind: 'payload', payload: { content: [], isError: true }, text: '{"content":[],"isError":true}' },
      { outcome: { type: 'success', basis: 'declared' }, payload: { content: [], isError: true } },
    ],
    [
      'a payload null is not nothing',
      { kind: 'payload', payload: null, text: 'null' },
      { outcome: { type: 'success', basis: 'declared' }, payload: null },
    ],
    [
      'an outcome is declared',
      { kind: 'outcome', outcome: { type: 'denied', tool: 'op', reason: 'no' } },
      { outcome: { type: 'denied', tool: 'op', reason: 'no', basis: 'declared' } },
    ],
    [
      'a tool_result: its outcome is in its text by convention, its display beside',
      { kind: 'verbatim', result: { text: 'Error: no', display_as: [{ type: 'text', content: 'x' }] } },
      {
        outcome: { type: 'error', message: 'no', basis: 'convention' },
        payload: 'Error: no',
        beside: { display: [{ type: 'text', content: 'x' }] },
      },
    ],
    [
      'a CallToolResult',
      { kind: 'verbatim', result: { content: [{ type: 'text', text: 'no' }], isError: true } },
      { outcome: { type: 'error', message: 'no', basis: 'declared' }, payload: 'no', beside: {} },
    ],
    [
      'what is neither is a payload, so that nothing is lost',
      { kind: 'verbatim', result: { answer: 42 } },
      { outcome: { type: 'success', basis: 'assumed' }, payload: { answer: 42 } },
    ],
  ])('%s', (_, reply, answer) => {
    expect(answerOfLocal(CALL, reply)).toEqual({ call: CALL, ...answer });
  });

  test('seed 001: a payload reaches an agent session as the JSON it is', () => {
    const answer = answerOfLocal(CALL, { kind: 'payload', payload: { a: [1] }, text: '{"a":[1]}' });
    expect(writeAs('session', answer).body).toMatchObject({ kind: 'tool_result', result: { a: [1] } });
  });
});
