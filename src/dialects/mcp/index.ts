import type { Dialect } from '../dialect.js';
import { readCallToolResult } from './read.js';
import { writeCallToolResult } from './write.js';

const title = 'a CallToolResult of MCP';

const carries: Dialect['carries'] = {
  success: 'exact',
  error: 'exact',
  canceled: 'convention',
  timeout: 'convention',
  denied: 'convention',
  unknown: 'lost',
  'error code': 'convention',
  'error type': 'convention',
  'error origin': 'lost',
  text: 'exact',
  JSON: 'lost',
  'no payload': 'convention',
  images: 'exact',
  'other content': 'exact',
  'order of content': 'lost',
  'structured content': 'exact',
  meta: 'exact',
  display: 'lost',
  subscription: 'lost',
  id: 'lost',
  tool: 'lost',
  arguments: 'lost',
  'other request fields': 'lost',
  thread: 'lost',
  'secondary id': 'lost',
  'other fields': 'lost',
};

/** What `tools/call` gives on an MCP wire (seed 003). */
export const mcpDialect: Dialect = {
  name: 'mcp',
  title,
  carries,
  read: readCallToolResult,
  write: answer => writeCallToolResult({ title, carries }, answer),
};
