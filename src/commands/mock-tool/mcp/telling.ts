import type { McpTool } from '../../../tool/mcp/mcp-tool.js';
import type { Terminal } from '../../terminal.js';
import type { MockToolPlan } from '../plan.js';
import { lines, type Telling } from '../telling.js';

/** Says first where the mock is reached: for programs in a line of JSON, which on stdio goes to stderr with all else. */
export async function startMcpTelling(
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
