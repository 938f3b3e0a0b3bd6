import { stat } from 'node:fs/promises';
import { basename, isAbsolute } from 'node:path';

/** Words as a shell takes them, roughly: what is quoted is one. */
const WORD = /(?:[^\s"']|"[^"]*"|'[^']*')+/g;
const ASSIGNMENT = /^\w+=/;

/**
 * A command for a report, which goes to others: its program and the files that it is given, which tell one run from another. The rest
 * may hold a secret (threats, row 25).
 */
export async function programIn(command: string, isFile = isThere): Promise<string> {
  const words = command.match(WORD) ?? [];
  const start = words.findIndex(word => !ASSIGNMENT.test(word));
  const [program = '', ...rest] = start < 0 ? [] : words.slice(start).map(unquoted);
  const files = await Promise.all(rest.map(async word => ((await isFile(word)) ? [shown(word)] : [])));
  return ['--command', basename(program), ...files.flat()].join(' ').trim();
}

function unquoted(word: string): string {
  return word.replaceAll(/["']/g, '');
}

/** Where on this machine it is concerns nobody. */
function shown(path: string): string {
  return isAbsolute(path) ? basename(path) : path;
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    there => there.isFile(),
    () => false,
  );
}
