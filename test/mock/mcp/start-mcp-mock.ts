import type { CallToolResult } from '@modelcontextprotocol/client';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { parseFixtures } from '../../../src/fixtures/read-fixtures.js';
import { type McpTool, type McpToolOptions, serveMcpHttp } from '../../../src/mock/mcp/mcp-tool.js';
import type { FileText } from '../start-mock.js';

/** Of the wire: one before sessions went, and one after. */
export type Era = 'legacy' | 'modern';
export const ERAS: readonly Era[] = ['legacy', 'modern'];

export const INITIALIZE = {
  jsonrpc: '2.0',
  id: 'init',
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
};

/** The JSON-RPC request that calls an operation. */
export const rpcCall = (id: number, name = 'op', args: object = {}) => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name, arguments: args },
});

export interface StartedMcpMock extends AsyncDisposable {
  readonly mcp: McpTool;
  readonly url: string;
  /** The official SDK's client, connected. */
  client(era?: Era): Promise<Client>;
  /** Calls `op` by a JSON-RPC request of our own: the answer's bytes are what the server sent. */
  post(message: unknown, headers?: Readonly<Record<string, string>>): Promise<Response>;
}

/** Fixtures, or handlers alone, behind a real socket. */
export async function startMcpMock(
  file: FileText | null,
  options: McpToolOptions = {},
): Promise<StartedMcpMock> {
  const fixtures = file ? { fixtures: parseFixtures({ version: 1, ...file }) } : {};
  const mcp = await serveMcpHttp({ ...fixtures, drainMs: 0, ...options });
  const url = mcp.address?.url ?? '';
  const clients: Client[] = [];
  return {
    mcp,
    url,
    async client(era = 'legacy') {
      const mode = era === 'modern' ? { pin: '2026-07-28' } : era;
      const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
      clients.push(client);
      await client.connect(new StreamableHTTPClientTransport(new URL(url)));
      return client;
    },
    post: (message, headers = {}) =>
      fetch(url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headers,
        },
        body: typeof message === 'string' ? message : JSON.stringify(message),
      }),
    async [Symbol.asyncDispose]() {
      for (const client of clients) await client.close();
      await mcp.close();
    },
  };
}

/** A result of `op`. */
export async function resultOf(client: Client, args: Record<string, unknown> = {}, name = 'op') {
  return (await client.callTool({ name, arguments: args })) as CallToolResult;
}
