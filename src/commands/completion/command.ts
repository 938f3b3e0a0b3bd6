import { Argument, type Command } from 'commander';
import { defineCommand, type RunCommand } from '../options.js';
import type { Topic } from './candidates.js';

/** @param topics what can be completed in place of a command */
export function completionCommand(run: RunCommand, topics: readonly Topic[]): Command {
  const command = defineCommand({
    name: 'completion',
    description:
      'Prints a script with which a shell completes commands, options, rules, scenarios, files, and the operations and arguments of servers that were called before. The program must be on the PATH.',
    usage: 'bash|zsh|fish',
    options: '--line <text>  print what may follow this line',
    values: { '--line': { isHidden: true } },
    examples: {
      'for bash': 'protocol-cli completion bash >> ~/.bashrc',
      'for zsh': 'protocol-cli completion zsh >> ~/.zshrc',
      'for fish': 'protocol-cli completion fish > ~/.config/fish/completions/protocol-cli.fish',
    },
    statuses: [0, 2],
    guide: 'platforms',
  });
  return command
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
    .action((shell, { line }) =>
      run(async terminal => (await import('./run.js')).runCompletion(shell, line, topics, terminal)),
    );
}
