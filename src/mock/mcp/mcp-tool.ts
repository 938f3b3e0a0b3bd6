import type { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { FixtureSet } from '../../fixtures/fixture-set.js';
import { LocalTool, type LocalToolOptions } from '../local-tool.js';
import { DEFAULTS } from '../mock.js';
import { type ServerOptions, serveMock } from '../serve.js';
import { AskingCalls } from './asking-calls.js';
import { MCP_PATH, McpEndpoint } from './endpoint.js';
import { type Ends, LineTransport } from './line-transport.js';
import { mcpServer, reporter } from './mcp-server.js';

export { leftOut } from '../local-tool.js';

export type McpToolOptions = Omit<LocalToolOptions, 'mcpUrl' | 'log'> &
  ServerOptions & {
    /** Origins of web pages that may call the MCP endpoint, such as `http://localhost:6274`. */
    readonly allowOrigins?: readonly string[];
  };

export interface McpAddress {
  readonly port: number;
  /** The base URL of the server. */
  readonly base: string;
  /** The URL of the MCP endpoint. */
  readonly url: string;
}

/** Fixtures and handlers, served to MCP clients (seed 003). */
export class McpTool implements AsyncDisposable {
  #closed: Promise<void> | undefined;

  /**
   * @param tool answers the calls and logs the events
   * @param address over HTTP; null over stdio
   * @param over resolves when the only client is gone; never over HTTP
   * @param servers connected servers that can notify their clients
   */
  constructor(
    readonly tool: LocalTool,
    readonly address: McpAddress | null,
    readonly over: Promise<void>,
    private readonly servers: ReadonlySet<Server>,
    private readonly end: () => Promise<void>,
  ) {}

  /** Replaces the fixtures from the next call on, and notifies clients if possible. @throws ProtocolCliError `invalid-toolset`. */
  async replaceFixtures(fixtures: FixtureSet): Promise<void> {
    await this.tool.replaceFixtures(fixtures);
    for (const server of this.servers) await server.sendToolListChanged().catch(() => {}); // a closed server rejects
  }

  /** Answers pending calls at once, then closes everything. */
  close(): Promise<void> {
    this.#closed ??= this.end();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** Serves one client over stdin and stdout. @throws ProtocolCliError `invalid-toolset`. */
export async function serveMcpStdio(options: McpToolOptions, ends: Ends): Promise<McpTool> {
  const tool = await LocalTool.start({ ...options, mcpUrl: 'stdio:' });
  const servers = new Set<Server>();
  const asking = new AskingCalls();
  const factory = () => {
    const server = mcpServer(tool, asking, options);
    servers.add(server);
    return server;
  };
  const transport = new LineTransport(ends, options.maxBody ?? DEFAULTS.maxBody, () => tool.close());
  const serving = serveStdio(factory, { transport, onerror: reporter(tool) });
  return new McpTool(tool, null, transport.over, servers, async () => {
    await tool.close();
    await serving.close();
  });
}

/**
 * Serves any number of clients over Streamable HTTP, behind the same guard as every server here, with the mock's own controls.
 * @throws ProtocolCliError `invalid-toolset`, `port-in-use`, `usage`.
 */
export async function serveMcpHttp(options: McpToolOptions): Promise<McpTool> {
  const tool = await LocalTool.start({ ...options, mcpUrl: MCP_PATH });
  const endpoint = new McpEndpoint(tool, options);
  const { mock } = tool;
  const server = await serveMock(mock, options, {
    routes: endpoint.routes,
    reset: key => mock.reset(key),
    refused: (denial, request) => mock.warnOfRefusal(denial, request),
  });
  const address = { port: server.port, base: server.url, url: server.url + MCP_PATH };
  return new McpTool(tool, address, new Promise<never>(() => {}), new Set(), async () => {
    const closing = server.close();
    await tool.close();
    await endpoint.close();
    await closing;
  });
}
