import type { Command } from 'commander';
import { defineCommand, type RunCommand } from '../options.js';

export function mcpServerCommand(run: RunCommand): Command {
  return defineCommand({
    name: 'mcp-server',
    description:
      'Serves toolset, invoke, check and render as MCP tools on stdin and stdout, so that a coding agent tests the tool that it writes. An operation that is marked destructive is called only with allow_destructive. Files are read from the working directory and below.',
    usage: '[options]',
    options: `
      --allow-commands  the agent may start tool servers: any command, with your rights
      --allow-env <name>  environment variable that the agent may send as a credential: env:NAME (repeatable)`,
    examples: {
      'the command for the settings of a coding agent': 'protocol-cli mcp-server',
      'the agent may start the tool that it writes': 'protocol-cli mcp-server --allow-commands',
      'the tool needs a token, which the agent does not see':
        'protocol-cli mcp-server --allow-env TOOL_TOKEN',
    },
    statuses: [0, 2],
    isServer: true,
    guide: 'coding-agents',
  }).action(options => run(async terminal => (await import('./run.js')).runMcpServer(options, terminal)));
}
