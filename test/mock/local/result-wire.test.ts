import { expect, test } from 'vitest';
import { wireOfResult } from '../../../src/mock/local-tool.js';

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
