import { Argument, type Command } from 'commander';
import { defineCommand, type RunCommand } from '../options.js';

export function initCommand(run: RunCommand): Command {
  const command = defineCommand({
    name: 'init',
    description:
      'Writes a first project that passes check: a tool with its cases, or the runtime of an agent with its driver; with either, fixtures of a mock tool and a workflow for GitHub. It has no dependencies. No file is overwritten.',
    usage: 'tool|agent [folder] [options]',
    options: '--language <language>  of the tool or the driver',
    values: { '--language': { choices: ['node', 'python', 'go'], preset: 'node' } },
    examples: {
      'a tool in the current folder': 'protocol-cli init tool',
      'a tool in Python, in a new folder': 'protocol-cli init tool my-tool --language python',
      'an agent: a runtime with its driver': 'protocol-cli init agent my-agent',
    },
    statuses: [0, 2],
    guide: 'checking',
  });
  return command
    .addArgument(new Argument('<what>', 'what to write').choices(['tool', 'agent']))
    .argument('[folder]', 'where to write it; created if it is missing', '.')
    .action((what, folder, { language }) =>
      run(async terminal => (await import('./run.js')).runInit(what, folder, language, terminal)),
    );
}
