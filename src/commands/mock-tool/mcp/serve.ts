import { leftOut } from '../../../mock/local/local-call.js';
import { type McpTool, serveMcpHttp, serveMcpStdio } from '../../../mock/mcp/mcp-tool.js';
import { takeStream } from '../../../system/drafts.js';
import { networkWarnings, printReady } from '../../run-server.js';
import type { Terminal } from '../../terminal.js';
import {
  fixtureWarnings,
  type LiveOutput,
  type MockToolPlan,
  type RunningMock,
  type Sources,
  startLines,
} from '../plan.js';

async function startMcpOutput(
  { tool, address }: McpTool,
  plan: MockToolPlan,
  terminal: Terminal,
): Promise<LiveOutput> {
  const { seed, toolset } = tool;
  const place = address ? { port: address.port, url: address.base, mcp: address.url } : { mcp: 'stdio' };
  const text = `mock-tool ${toolset.name}, MCP at ${place.mcp} (seed ${seed})`;
  printReady({ ...place, seed }, text, terminal, plan);
  return startLines(tool, plan, terminal);
}

/**
 * Serves MCP. On stdio, stdout carries the protocol: what handlers and libraries write to stdout goes to stderr.
 * @throws ProtocolCliError `invalid-toolset`, `port-in-use`, `usage`.
 */
export async function serveMcp(
  plan: MockToolPlan,
  sources: Sources,
  terminal: Terminal,
): Promise<RunningMock> {
  const { fixtures, handlers, middleware } = sources;
  const options = {
    ...plan.tool,
    ...(fixtures && { fixtures }),
    ...(handlers && { handlers }),
    ...(middleware && { middleware }),
  };
  if (plan.mcp === 'http') {
    const { allowOrigin: allowOrigins = [] } = plan.flags;
    return running(await serveMcpHttp({ ...options, allowOrigins }), plan, sources, terminal);
  }
  const { stdin, stdout, stderr } = terminal;
  const taken = takeStream(stdout, stderr);
  const mcp = await serveMcpStdio(options, { stdin, stdout: taken.stream });
  const { close, ...rest } = running(mcp, plan, sources, { ...terminal, stdout: stderr });
  return { ...rest, close: () => close().finally(taken.release) };
}

function running(
  mcp: McpTool,
  plan: MockToolPlan,
  { fixtures, warnings = [] }: Sources,
  terminal: Terminal,
): RunningMock {
  const { tool, address, over } = mcp;
  return {
    tool: { verify: () => tool.verify(), replaceFixtures: set => mcp.replaceFixtures(set) },
    env: address ? { MCP_URL: address.url } : {},
    warnings: [
      ...warnings,
      ...networkWarnings(plan.flags),
      ...(fixtures ? [...leftOut(fixtures), ...fixtureWarnings(fixtures)] : []),
    ],
    over,
    startOutput: () => startMcpOutput(mcp, plan, terminal),
    close: () => mcp.close(),
    status: () => 0,
  };
}
