import { Command } from 'commander';
import type { CommandEntry } from './entry.js';
import { type Guide, guideCommand, guidesText } from './guides.js';
import { type Example, examplesText } from './help.js';
import type { RunCommand } from './run-command.js';
import { refusingUnknown, suggestingNames } from './unknown-command.js';

export const EXAMPLES: readonly Example[] = [
  { about: 'the workbench, full screen', line: 'protocol-cli' },
  { about: 'a first call, of the tool bundled with this program', line: 'protocol-cli invoke --demo' },
  {
    about: 'a tool of yours: what it offers, then a call',
    line: 'protocol-cli toolset :3000\n  protocol-cli invoke :3000 edit_file path=src/main.rs',
  },
  {
    about: 'the options of a command; a guide',
    line: 'protocol-cli help invoke\n  protocol-cli help fixtures',
  },
];

/**
 * The whole program as commander reads it, for these words: the command that they name is loaded, of the others only their
 * entries are known. So a start takes no longer the more commands there are.
 */
export async function commandLine(
  words: readonly string[],
  {
    entries,
    guides,
    version,
    run,
  }: { entries: readonly CommandEntry[]; guides: readonly Guide[]; version: string; run: RunCommand },
): Promise<Command> {
  const program = new Command('protocol-cli')
    .description(
      'Tests tools that talk to AI agents over asynchronous HTTP.\nAlone, on a terminal, it opens the workbench.',
    )
    .configureHelp({ subcommandTerm: command => command.name() })
    .addHelpText('after', (guides.length > 0 ? guidesText(guides) : '') + examplesText(EXAMPLES))
    .version(version)
    .showHelpAfterError('(add --help for usage and examples)')
    .exitOverride();
  const named = nameIn(words);
  for (const { name, summary, load } of entries) {
    const command = name === named ? (await load())(run) : new Command(name);
    program.addCommand(inheriting(program, command.summary(summary)));
  }
  const commands = entries.map(({ name }) => name);
  if (words[0] === 'help' && guides.length > 0 && named !== undefined && !commands.includes(named))
    program.addCommand(inheriting(program, guideCommand(named, { guides, commands, run })), { hidden: true });
  return refusingUnknown(suggestingNames(program));
}

/** Where commander looks for a command: the first word that is no option; after `help`, the second. */
function nameIn(words: readonly string[]): string | undefined {
  const [first, second] = words.filter(word => !word.startsWith('-'));
  return first === 'help' ? second : first;
}

function inheriting(parent: Command, command: Command): Command {
  suggestingNames(command.copyInheritedSettings(parent));
  for (const subcommand of command.commands) inheriting(command, subcommand);
  return command;
}
