import type { Server } from '@modelcontextprotocol/server';
import { systemClock } from '../../system/clock.js';
import { type RunningServer, startServer } from '../../transport/server.js';
import { DEFAULTS } from '../defaults.js';
import { JournalReports } from '../journal/report.js';
import type { LocalTool } from '../local/local-tool.js';
import type { MockToolOptions } from '../options.js';
import { refusalText } from '../refusal-text.js';
import { adminRoutes } from '../routes/admin.js';
import { McpEndpoint } from './endpoint.js';
import { teller } from './teller.js';

export interface PageOptions {
  /** Origins of web pages that may call the MCP endpoint, such as `http://localhost:6274`. */
  readonly allowOrigins?: readonly string[];
}

type HttpOptions = Pick<MockToolOptions, 'host' | 'port' | 'allowHosts' | 'maxBody' | 'program' | 'clock'> &
  PageOptions;

/**
 * Opens the server of the endpoint, behind the guard that every server here has, with the mock's own controls beside it.
 * @param serverFor makes a server of the SDK's, which says when the call of a request was cancelled
 * @throws ProtocolCliError `port-in-use`, `usage`.
 */
export async function openHttp(
  tool: LocalTool,
  {
    host,
    port,
    allowHosts = [],
    allowOrigins = [],
    maxBody = DEFAULTS.maxBody,
    program = 'protocol-cli',
    clock = systemClock,
  }: HttpOptions,
  serverFor: (onCancelled: (request: Request) => void) => Server,
): Promise<{ readonly server: RunningServer; readonly endpoint: McpEndpoint }> {
  const endpoint: McpEndpoint = new McpEndpoint(
    () => serverFor(request => endpoint.abandon(request)),
    teller(tool),
    new Set(allowOrigins),
  );
  const startedAt = clock.wall().toISOString();
  const server = await startServer({
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    allowedHosts: allowHosts,
    maxBody,
    explains: true,
    routes: [
      ...endpoint.routes,
      ...adminRoutes({
        journal: new JournalReports(tool, { startedAt, program }),
        reset: key => tool.reset(key),
        fire: () => 0,
      }),
    ],
    onRefused: refusal => tool.warn(refusalText(refusal)),
  });
  return { server, endpoint };
}
