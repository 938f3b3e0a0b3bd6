import { Command, Help } from 'commander';
import type { CommandEntry } from './entry.js';
import type { RunCommand } from './run-command.js';

/**
 * The whole program as commander reads it, for these words: the command that they name is loaded, of the others only their
 * entries are known. So a start takes no longer the more commands there are.
 */
export async function commandLine(
  words: readonly string[],
  { entries, version, run }: { entries: readonly CommandEntry[]; version: string; run: RunCommand },
): Promise<Command> {
  const program = new Command('protocol-cli')
    .description('Tests tools that talk to AI agents over asynchronous HTTP.')
    .version(version)
    .showHelpAfterError('(add --help for usage and examples)')
    .exitOverride();
  const named = nameIn(words);
  for (const { name, summary, load } of entries) {
    const command = name === named ? (await load())(run) : new Command(name);
    program.addCommand(inheriting(program, command.summary(summary)));
  }
  return program.configureHelp({ subcommandTerm: listedAs(entries) }); // last: a command with subcommands lists them as usual
}

/** Where commander looks for a command: the first word that is no option; after `help`, the second. */
function nameIn(words: readonly string[]): string | undefined {
  const [first, second] = words.filter(word => !word.startsWith('-'));
  return first === 'help' ? second : first;
}

function inheriting(parent: Command, command: Command): Command {
  command.copyInheritedSettings(parent);
  for (const subcommand of command.commands) inheriting(command, subcommand);
  return command;
}

function listedAs(entries: readonly CommandEntry[]): (command: Command) => string {
  const usual = new Help();
  const terms = new Map(entries.map(({ name, takes }) => [name, `${name} ${takes}`]));
  return command => terms.get(command.name()) ?? usual.subcommandTerm(command);
}
