import type { Server } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { FixtureSet } from '../../fixtures/fixture-set.js';
import { DEFAULTS } from '../defaults.js';
import { type LocalTool, type LocalToolOptions, startLocalTool } from '../local/local-tool.js';
import type { MockToolOptions } from '../options.js';
import { MCP_PATH } from './endpoint.js';
import { openHttp, type PageOptions } from './http.js';
import { type Ends, LineTransport } from './line-transport.js';
import { mcpServer } from './server.js';
import { teller } from './teller.js';
import { mcpWire } from './wire.js';

export type McpToolOptions = Omit<LocalToolOptions, 'wire' | 'log'> &
  Pick<MockToolOptions, 'host' | 'port' | 'allowHosts' | 'maxBody' | 'program'> &
  PageOptions;

/** Fixtures and handlers, served to MCP clients (seed 003). */
export interface McpTool extends AsyncDisposable {
  /** What is served, and what came of it. */
  readonly tool: LocalTool;
  /** Over HTTP; null over stdio. */
  readonly address: { readonly port: number; readonly base: string; readonly url: string } | null;
  /** Resolves when the only client there can be is gone; never over HTTP. */
  readonly over: Promise<void>;
  /** Answers by other fixtures from the next call on, and tells clients where it can. @throws ProtocolCliError `invalid-toolset`. */
  replaceFixtures(fixtures: FixtureSet): Promise<void>;
  /** What is pending is answered at once; then everything ends. */
  close(): Promise<void>;
}

/** Serves one client, over stdin and stdout. @throws ProtocolCliError `invalid-toolset`. */
export async function serveMcpStdio(options: McpToolOptions, ends: Ends): Promise<McpTool> {
  const tool = await startLocalTool({ ...options, wire: mcpWire('stdio:') });
  const servers = new Set<Server>();
  const factory = () => {
    const server = mcpServer({ tool, version: versionOf(options), tellsChanges: true });
    servers.add(server);
    return server;
  };
  const transport = new LineTransport(ends, options.maxBody ?? DEFAULTS.maxBody, () => tool.close());
  const serving = serveStdio(factory, { transport, onerror: teller(tool) });
  const close = once(async () => {
    await tool.close();
    await serving.close();
  });
  return {
    tool,
    address: null,
    over: transport.over,
    async replaceFixtures(fixtures) {
      await tool.replaceFixtures(fixtures);
      for (const server of servers) await server.sendToolListChanged().catch(() => {}); // one that is closed
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Serves any number of clients, over Streamable HTTP. @throws ProtocolCliError `invalid-toolset`, `port-in-use`, `usage`. */
export async function serveMcpHttp(options: McpToolOptions): Promise<McpTool> {
  const tool = await startLocalTool({ ...options, wire: mcpWire(MCP_PATH) });
  const { server, endpoint } = await openHttp(tool, options, onCancelled =>
    mcpServer({ tool, version: versionOf(options), tellsChanges: false, onCancelled }),
  );
  const close = once(async () => {
    const unheard = server.close();
    await tool.close();
    await endpoint.close();
    await unheard;
  });
  return {
    tool,
    address: { port: server.port, base: server.url, url: server.url + MCP_PATH },
    over: new Promise<never>(() => {}),
    replaceFixtures: fixtures => tool.replaceFixtures(fixtures),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function versionOf({ program = 'protocol-cli/0' }: McpToolOptions): string {
  return program.slice(program.indexOf('/') + 1);
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined;
  return () => {
    done ??= work();
    return done;
  };
}
