import { describe, expect, test } from 'vitest';
import { readMcpTarget } from '../../../src/commands/invoke/mcp.js';

describe('what --mcp names', () => {
  test.each([
    ['http://127.0.0.1:3000/mcp', 'http://127.0.0.1:3000/mcp'],
    [':3000/mcp', 'http://127.0.0.1:3000/mcp'],
    ['localhost/mcp', 'http://localhost/mcp'],
    ['example.org:8080', 'http://example.org:8080'],
  ])('%s is a URL', (value, name) => {
    expect(readMcpTarget(value, {})).toEqual({ kind: 'http', name });
  });

  test.each(['node server.mjs', 'server.js', './run http://elsewhere', 'npx -y @scope/server'])(
    '%s is a command',
    value => {
      expect(readMcpTarget(value, {})).toEqual({ kind: 'stdio', name: value });
    },
  );

  test.each(['', ' ', 'ftp://host/mcp', 'http://user:pass@host/mcp'])('"%s" is neither', value => {
    expect(() => readMcpTarget(value, {})).toThrow();
  });
});
