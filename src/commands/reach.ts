import type { MockTool } from '../tool/mock-tool.js';
import { createNodeClient } from '../transport/node-client.js';
import { demoFixtures } from './demo-fixtures.js';
import { type ReachOptions, startServer } from './started-server.js';
import type { ConfiguredTarget } from './target.js';

/**
 * The URL of a tool server. The demo and an MCP server are served from this process; a command is started as a process of its own.
 * @throws ProtocolCliError `command-failed`; of an MCP server also `unreachable` and `no-discovery`.
 */
export async function reach(target: ConfiguredTarget, options: ReachOptions): Promise<string> {
  const { onStop } = options;
  switch (target.kind) {
    case 'url':
      return target.url;
    case 'demo': {
      const tool = await startDemo();
      onStop(() => tool.close({ drainMs: 0 }));
      return tool.url;
    }
    case 'mcp': {
      const { startMcpToolset } = await import('./mcp-toolset.js');
      return startMcpToolset(target, options);
    }
    case 'command':
      return startServer(target, options);
  }
}

/** Uses a client that loads fast: one call needs no throughput. */
async function startDemo(): Promise<MockTool> {
  const { startMockTool } = await import('../tool/mock-tool.js');
  return startMockTool({ fixtures: await demoFixtures(), client: async () => createNodeClient() });
}
