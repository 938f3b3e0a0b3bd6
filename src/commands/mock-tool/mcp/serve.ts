import { leftOut } from '../../../mock/local/local-call.js';
import { type McpTool, serveMcpHttp, serveMcpStdio } from '../../../mock/mcp/mcp-tool.js';
import { takeStream } from '../../../system/drafts.js';
import type { Terminal } from '../../terminal.js';
import {
  fixtureWarnings,
  lines,
  type MockToolPlan,
  openWarnings,
  type Served,
  type Sources,
  type Telling,
} from '../plan.js';

/** Says first where the mock is reached: for programs in a line of JSON, which on stdio goes to stderr with all else. */
async function startMcpTelling(
  { tool, address }: McpTool,
  plan: MockToolPlan,
  terminal: Terminal,
): Promise<Telling> {
  const { stdout, stderr } = terminal;
  const isPiped = stdout.isTTY !== true && plan.command === null;
  const { seed } = tool;
  const place = address ? { port: address.port, url: address.base, mcp: address.url } : { mcp: 'stdio' };
  if (isPiped) stdout.write(`${JSON.stringify({ ...place, seed })}\n`);
  else stderr.write(`mock-tool ${tool.toolset.name}, MCP at ${place.mcp} (seed ${seed})\n`);
  return lines(tool, plan, terminal);
}

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
