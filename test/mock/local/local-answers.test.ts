import { describe, expect, test } from 'vitest';
import { writeAs } from '../../../src/dialects/dialects.js';
import { parseFixtures } from '../../../src/fixtures/read-fixtures.js';
import type { ReplyContent } from '../../../src/mock/conversation.js';
import { leftOut } from '../../../src/mock/local-tool.js';
import { answerOfLocal, wireOfResult } from '../../../src/mock/mcp-answer.js';

const CALL = { id: 'call_1', tool: 'op', args: { a: 1 }, thread: 's1', request: { tool_name: 'op' } };

describe('converts local answers to the common model', () => {
  test.each<[string, ReplyContent, object]>([
    [
      'a payload is what the model gets, in any form',
      { kind: 'payload', payload: { content: [], isError: true }, text: '{"content":[],"isError":true}' },
      { outcome: { type: 'success', basis: 'declared' }, payload: { content: [], isError: true } },
    ],
    [
      'a payload null is kept',
      { kind: 'payload', payload: null, text: 'null' },
      { outcome: { type: 'success', basis: 'declared' }, payload: null },
    ],
    [
      'an outcome is declared',
      { kind: 'outcome', outcome: { type: 'denied', tool: 'op', reason: 'no' } },
      { outcome: { type: 'denied', tool: 'op', reason: 'no', basis: 'declared' } },
    ],
    [
      'a tool_result: its outcome is in its text by convention; its display is separate',
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
      'an unknown object is a payload, so that nothing is lost',
      { kind: 'verbatim', result: { answer: 42 } },
      { outcome: { type: 'success', basis: 'assumed' }, payload: { answer: 42 } },
    ],
  ])('%s', (_, reply, answer) => {
    expect(answerOfLocal(CALL, reply)).toEqual({ call: CALL, ...answer });
  });

  test('seed 001: an agent session receives a payload as its JSON', () => {
    const answer = answerOfLocal(CALL, { kind: 'payload', payload: { a: [1] }, text: '{"a":[1]}' });
    expect(writeAs('session', answer).body).toMatchObject({ kind: 'tool_result', result: { a: [1] } });
  });
});

const text = { type: 'text', text: 'x' };

test.each<['rap' | 'mcp', string, Readonly<Record<string, unknown>>]>([
  ['rap', 'a text', { text: 'x' }],
  ['rap', 'a text and a display', { text: 'x', display_as: [] }],
  ['rap', 'content beside a text for older runtimes', { text: 'x', content: [text] }],
  ['rap', 'content beside a display', { content: [text], display_as: [] }],
  [
    'rap',
    'content with an image as RAP writes it',
    { content: [{ type: 'image', data: 'AA==', mediaType: 'image/png' }] },
  ],
  ['rap', 'content that is not a list', { content: 'x' }],
  ['mcp', 'content alone', { content: [text] }],
  ['mcp', 'no content at all', { content: [] }],
  ['mcp', 'isError', { content: [text], isError: true }],
  ['mcp', 'an image as MCP writes it', { content: [{ type: 'image', data: 'AA==', mimeType: 'image/png' }] }],
  [
    'mcp',
    'a type that is not known, structured content, _meta',
    { content: [{ type: 'x' }], structuredContent: {}, _meta: {} },
  ],
  ['mcp', 'what is wrong in both', { content: [7], isError: 'yes' }],
])('%s: %s', (wire, _, result) => {
  expect(wireOfResult(result)).toBe(wire);
});

const event = [{ event: { text: 'x' } }, { payload: 1 }];
const view = [{ view: { view_type: 'x', content: {} } }, { payload: 1 }];

test.each<[string, object, readonly string[]]>([
  ['a plain reply', { reply: { payload: 1, delay: '1s' } }, []],
  ['a result of RAP', { reply: { result: { text: 'x', display_as: [] } } }, []],
  [
    'a fault of a callback',
    { reply: { payload: 1 }, faults: { callback: ['drop'] } },
    ['faults apply to RAP only and are ignored (one)'],
  ],
  [
    'a fault of an acknowledgement',
    { reply: { payload: 1 }, faults: { ack: { status: 503 } } },
    ['faults apply to RAP only and are ignored (one)'],
  ],
  ['an event in a sequence', { sequence: [{ payload: 1 }, event] }, ['events are not sent (one)']],
  [
    'a view within the branches of questions',
    {
      reply: {
        choice: { prompt: 'x', choices: ['a'] },
        // biome-ignore lint/suspicious/noThenProperty: the word of the file format
        then: { a: { oauth: {}, granted: view, refused: { payload: 1 } } },
      },
    },
    [
      'views are not sent (one)',
      'choices are asked as forms; a client without forms gets the default (one)',
      'consents are not asked; they count as refused (one)',
    ],
  ],
])('%s', (_, fixture, sentences) => {
  const set = parseFixtures({
    version: 1,
    fixtures: [{ id: 'one', match: { operation: 'op' }, ...fixture }],
  });
  expect(leftOut(set)).toEqual(sentences);
});
