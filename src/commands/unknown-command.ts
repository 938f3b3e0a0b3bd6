import type { Command } from 'commander';

/** Who asks for the help of a command that there is not is told so, as who calls it is: commander would show the help of all of them. */
export function refusingUnknown(program: Command): Command {
  return program.on('beforeAllHelp', ({ command }: { readonly command: Command }) => {
    const unknown = unknownIn(command);
    if (unknown !== undefined) command.parse([unknown], { from: 'user' });
  });
}

/** The word in the place of a command; undefined where there is none, or such a command is there. */
function unknownIn({ args, commands }: Command): string | undefined {
  const [first, second] = args.filter(word => !word.startsWith('-'));
  const name = first === 'help' ? second : first;
  return commands.length === 0 || commands.some(each => each.name() === name) ? undefined : name;
}
