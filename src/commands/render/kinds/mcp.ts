import { readAs } from '../../../dialects/index.js';
import { panesOfMcp } from '../../../story/mcp-panes.js';
import { noted, savedAnswer } from './answer.js';
import type { Kind } from './kind.js';

/** What `tools/call` gives on an MCP wire. */
export const mcpKind: Kind = {
  name: 'a CallToolResult of MCP',
  dialect: 'mcp',
  keys: ['content', 'isError', 'structuredContent', '_meta'],
  isMeant: ({ content, isError, structuredContent }) =>
    Array.isArray(content) || isError !== undefined || structuredContent !== undefined,
  async read({ value, notes }) {
    const reading = readAs('mcp', value);
    if (!reading.ok) return reading;
    const { human, llm } = panesOfMcp({ ...reading, reading, outcome: reading.answer.outcome });
    const panes = { kind: 'panes', human, llm } as const;
    return { ok: true, saved: savedAnswer('CallToolResult', noted(reading, notes), panes) };
  },
};
