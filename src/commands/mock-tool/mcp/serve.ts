import { takeStream } from '../../../system/take-stream.js';
import { leftOut } from '../../../tool/local/left-out.js';
import { type McpTool, serveMcpHttp, serveMcpStdio } from '../../../tool/mcp/mcp-tool.js';
import type { Terminal } from '../../terminal.js';
import type { MockToolPlan } from '../plan.js';
import type { Served } from '../served.js';
import type { Sources } from '../sources.js';
import { fixtureWarnings, openWarnings } from '../warnings.js';
import { startMcpTelling } from './telling.js';

/**
 * Serves MCP. On stdio stdout is the wire: what anybody else writes there, a handler or a library, goes to stderr.
 * @throws ProtocolCliError `invalid-toolset`, `port-in-use`, `usage`.
 */
export async function serveMcp(plan: MockToolPlan, sources: Sources, terminal: Terminal): Promise<Served> {
  const { fixtures, handlers, middleware } = sources;
  const options = {
    ...plan.tool,
    ...(fixtures && { fixtures }),
    ...(handlers && { handlers }),
    ...(middleware && { middleware }),
  };
  if (plan.mcp === 'http') {
    const { allowOrigin: allowOrigins = [] } = plan.flags;
    return served(await serveMcpHttp({ ...options, allowOrigins }), plan, sources, terminal);
  }
  const { stdin, stdout, stderr } = terminal;
  const taken = takeStream(stdout, stderr);
  const mcp = await serveMcpStdio(options, { stdin, stdout: taken.stream });
  const { close, ...rest } = served(mcp, plan, sources, { ...terminal, stdout: stderr });
  return { ...rest, close: () => close().finally(taken.release) };
}

function served(
  mcp: McpTool,
  plan: MockToolPlan,
  { fixtures, warnings = [] }: Sources,
  terminal: Terminal,
): Served {
  const { tool, address, over } = mcp;
  return {
    tool: { verify: () => tool.verify(), replaceFixtures: set => mcp.replaceFixtures(set) },
    env: address ? { MCP_URL: address.url } : {},
    warnings: [
      ...warnings,
      ...openWarnings(plan.flags),
      ...(fixtures ? [...leftOut(fixtures), ...fixtureWarnings(fixtures)] : []),
    ],
    over,
    tell: () => startMcpTelling(mcp, plan, terminal),
    close: () => mcp.close(),
    status: () => 0,
  };
}
