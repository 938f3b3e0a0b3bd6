import { Command, Option } from 'commander';
import { type Example, examplesText, exitStatusText, guideText } from '../help.js';
import { bearerOption, headerOption, type RunCommand } from '../options.js';

export const TOOLSET_EXAMPLES: readonly Example[] = [
  { about: 'list the operations of a tool', line: 'protocol-cli toolset http://127.0.0.1:3001' },
  { about: 'the bundled tool', line: 'protocol-cli toolset --demo' },
  { about: 'the tools of an MCP server', line: "protocol-cli toolset --mcp 'node server.mjs'" },
  { about: 'as data', line: "protocol-cli toolset :3001 -o json | jq -r '.tools[].name'" },
];

/** `toolset`: fetches, validates and lists a toolset. */
export function toolsetCommand(run: RunCommand): Command {
  return new Command('toolset')
    .description('Fetches and validates the toolset of a tool server, and lists its operations.')
    .usage('[url] [options]')
    .argument('[url]', 'base URL of the tool server')
    .option('--demo', 'the tool bundled with this program')
    .option(
      '--command <command>',
      'start a server that prints {"port":N} on its first line; stop it at the end',
    )
    .option(
      '--mcp <url|command>',
      'list the tools of an MCP server: its endpoint, or a command that starts it',
    )
    .option('--yes', 'start the commands of .infinity/rap.json without asking')
    .addOption(headerOption())
    .addOption(bearerOption())
    .addOption(
      new Option('-o, --output <format>', 'a list for people, or the document')
        .choices(['text', 'json'])
        .default('text'),
    )
    .option('--no-color', 'no colours (NO_COLOR works too)')
    .addHelpText('after', examplesText(TOOLSET_EXAMPLES) + exitStatusText([0, 2, 4]) + guideText('calling'))
    .action((url, options) =>
      run(async terminal => (await import('../lazy.js')).runToolset(url, options, terminal)),
    );
}
