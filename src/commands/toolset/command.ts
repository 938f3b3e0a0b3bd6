import type { Command } from 'commander';
import { MCP_VERSIONS } from '../../protocol/mcp-versions.js';
import { defineCommand, type RunCommand } from '../options.js';

export function toolsetCommand(run: RunCommand): Command {
  return defineCommand({
    name: 'toolset',
    description:
      'Fetches and validates the toolset of a tool server, and lists its operations; or shows one of them, with the parts of its arguments and a call to paste.',
    usage: '[url] [operation] [options]',
    arguments: {
      '[url]': 'base URL of the tool server; leave it out with --demo, --command and --mcp',
      '[operation]': 'show only this operation',
    },
    options: `
      --demo  the tool bundled with this program
      --command <command>  start a server that prints {"port":N}, or serves the URL; stop it at the end
      --ready-timeout <duration>  time for the server of --command to start (default: 10s)
      --mcp <url|command>  list the tools of an MCP server: its endpoint, or a command that starts it
      --mcp-version <version>  with --mcp: the version of MCP to use (default: the newest that both sides support)
      --yes  start the commands of .infinity/rap.json without asking
      -H, --header <name: value>  header, sent to the origin of the URL only (repeatable); a value of env:NAME reads a variable
      --bearer <token>  bearer token, sent to the origin of the URL only; env:NAME reads a variable
      -o, --output <format>  a list for people, or the document
      --no-color  no colours (NO_COLOR works too)`,
    values: {
      '--output': { choices: ['text', 'json'], preset: 'text' },
      '--mcp-version': { choices: MCP_VERSIONS },
    },
    examples: {
      'list the operations of a tool': 'protocol-cli toolset http://127.0.0.1:3001',
      'one operation: all of its arguments, and a call to paste': 'protocol-cli toolset :3001 edit_file',
      'the bundled tool': 'protocol-cli toolset --demo',
      'the tools of an MCP server': 'protocol-cli toolset --mcp "node server.mjs"',
      'as data': "protocol-cli toolset :3001 -o json | jq -r '.tools[].name'",
    },
    statuses: [0, 2, 4],
    guide: 'calling',
  }).action((url, operation, options) => {
    const words = [url, operation].filter(word => word !== undefined);
    return run(async terminal => (await import('./run.js')).runToolset(words, options, terminal));
  });
}
