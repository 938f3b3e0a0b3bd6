/** Texts of a tool that a runner of GitHub, Azure or TeamCity takes for commands. */
export const CI_COMMANDS = ['::error::x', '  ::add-mask::x', '##[error]x', '##vso[task.x]', '##teamcity[x]'];

/** A command as the runners find it: GitHub's at the start of a line, after any blanks; the others anywhere. */
const COMMAND = /^\s*::[\w-]+(?:\s[^\n]*)?::|##(?:vso|teamcity)?\[/i;

/** The lines of an output that a runner executes (threats, row 32). */
export function ciCommandsIn(output: string): string[] {
  return output.split('\n').filter(line => COMMAND.test(line));
}
