import { describe, expect, test } from 'vitest';
import { readMcpTarget } from '../../../../src/commands/invoke/mcp/target.js';
import { endpointOf } from '../../../../src/runtime/mcp/transports.js';

describe('what --mcp names', () => {
  test.each([
    ['http://127.0.0.1:3000/mcp', 'http://127.0.0.1:3000/mcp'],
    [':3000/mcp', 'http://127.0.0.1:3000/mcp'],
    ['localhost/mcp', 'http://localhost/mcp'],
    ['example.org:8080', 'http://example.org:8080'],
  ])('%s is a URL', (value, name) => {
    expect(readMcpTarget(value)).toEqual({ kind: 'http', name });
  });

  test.each(['node server.mjs', 'server.js', './run http://elsewhere', 'npx -y @scope/server'])(
    '%s is a command',
    value => {
      expect(readMcpTarget(value)).toEqual({ kind: 'stdio', name: value });
    },
  );

  test.each(['', ' ', 'ftp://host/mcp', 'http://user:pass@host/mcp'])('"%s" is neither', value => {
    expect(() => readMcpTarget(value)).toThrow();
  });
});

test('a transcript tells of a command only its program: the words after it may be secrets', () => {
  const of = (name: string) => endpointOf({ kind: 'stdio', name });
  expect(of('TOKEN=abc npx server --key k')).toBe('stdio:npx');
  expect(of("'/usr/bin/node' server.mjs")).toBe('stdio:node');
  expect(of('$(evil) x')).toBe('stdio:');
});
