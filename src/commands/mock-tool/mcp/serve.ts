import { leftOut } from '../../../mock/local-tool.js';
import { type McpTool, serveMcpHttp, serveMcpStdio } from '../../../mock/mcp/mcp-tool.js';
import { takeStream } from '../../../system/streams.js';
import { networkWarnings, printReady } from '../../run-server.js';
import type { Terminal } from '../../terminal.js';
import { fixtureWarnings, lineOutput, type RunningMock, type Sources } from '../output.js';
import type { MockToolPlan } from '../plan.js';

/**
 * Serves MCP. On stdio, stdout carries the protocol: what handlers and libraries write to stdout goes to stderr.
 * @throws ProtocolCliError `invalid-toolset`, `port-in-use`, `usage`.
 */
export async function serveMcp(
  plan: MockToolPlan,
  sources: Sources,
  terminal: Terminal,
): Promise<RunningMock> {
  const { warnings: _, ...given } = sources;
  const options = { ...plan.tool, ...given };
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
  const { seed, toolset } = tool;
  return {
    tool: { verify: () => tool.verify(), replaceFixtures: set => mcp.replaceFixtures(set) },
    env: address ? { MCP_URL: address.url } : {},
    warnings: [
      ...warnings,
      ...networkWarnings(plan.flags),
      ...(fixtures ? [...leftOut(fixtures), ...fixtureWarnings(fixtures)] : []),
    ],
    over,
    async startOutput() {
      const place = address ? { port: address.port, url: address.base, mcp: address.url } : { mcp: 'stdio' };
      const text = `mock-tool ${toolset.name}, MCP at ${place.mcp} (seed ${seed})`;
      printReady({ ...place, seed }, text, terminal, plan);
      return lineOutput(tool, plan, terminal);
    },
    close: () => mcp.close(),
    status: () => 0,
  };
}
