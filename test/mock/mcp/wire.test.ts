import { expect, test } from 'vitest';
import type { SpokenReply } from '../../../src/mock/local-tool.js';
import { mcpWire } from '../../../src/mock/mcp/mcp-tool.js';

const text = (words: string) => [{ type: 'text', text: words }];
const verbatim = (result: Readonly<Record<string, unknown>>): SpokenReply => ({ kind: 'verbatim', result });
const write = (reply: SpokenReply, isOffered = true) => mcpWire('/mcp').write(reply, () => isOffered);

test.each<[string, SpokenReply, object, readonly string[]]>([
  [
    'a payload is never sniffed',
    { kind: 'payload', payload: { content: [], isError: true }, text: '{"content":[],"isError":true}' },
    { content: text('{"content":[],"isError":true}'), isError: false },
    [],
  ],
  [
    'of a result isError alone is filled in',
    verbatim({ content: text('x'), more: 1 }),
    { content: text('x'), more: 1, isError: false },
    [],
  ],
  [
    'where it is there, it stays',
    verbatim({ content: [], isError: true }),
    { content: [], isError: true },
    [],
  ],
  [
    'an invalid result is sent, with a warning',
    verbatim({ content: [{ type: 'text' }], isError: 'yes' }),
    { content: [{ type: 'text' }], isError: 'yes' },
    [expect.stringContaining('an invalid MCP result was sent: $.')],
  ],
  [
    'a result of RAP loses its display, which is warned of',
    verbatim({ text: 'x', display_as: [{ type: 'text', content: 'y' }] }),
    { content: text('x'), isError: false },
    [expect.stringContaining('cannot carry what people see (display_as, 1 segment)')],
  ],
  [
    'an unknown result is sent as text',
    verbatim({ answer: 42 }),
    { content: text('{"answer":42}'), isError: false },
    [expect.stringContaining('neither content (MCP) nor text (RAP)')],
  ],
  [
    'canceled',
    { kind: 'outcome', outcome: { type: 'canceled', reason: 'veto', by: 'policy' } },
    {
      content: text('{"canceled":{"reason":"veto","by":"policy"}}'),
      isError: true,
      structuredContent: { canceled: { reason: 'veto', by: 'policy' } },
    },
    [],
  ],
])('seed 003: %s', (_, reply, body, warnings) => {
  expect(write(reply)).toEqual({ body, warnings });
});

test('an error about a tool that there is not is one of JSON-RPC', () => {
  const reply: SpokenReply = { kind: 'outcome', outcome: { type: 'error', message: 'unknown' } };
  expect(write(reply, false)).toEqual({
    body: { error: { code: -32_602, message: 'unknown' } },
    warnings: [],
  });
  expect(write(reply).body).toEqual({ content: text('unknown'), isError: true });
});
