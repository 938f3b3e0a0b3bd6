import { realpath, stat } from 'node:fs/promises';
import { isAbsolute, relative, resolve, sep } from 'node:path';
import { readError } from '../../system/file-system-errors.js';
import { usageError } from '../options.js';
import { requireUrl } from '../target.js';

interface TargetArguments {
  readonly url?: string | undefined;
  readonly command?: string | undefined;
  readonly demo?: boolean | undefined;
  readonly bearer?: string | undefined;
  readonly headers?: readonly string[] | undefined;
}

/** Options of a command line, and the URL that comes before its other words. */
interface TargetWords {
  readonly options: readonly string[];
  readonly urls: readonly string[];
}

/** What the user allows. */
interface Allowed {
  readonly mayStart: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** @throws ProtocolCliError `usage` without a target, or for a command or a variable that the user did not allow */
export function targetWords(
  { url, command, demo, bearer, headers = [] }: TargetArguments,
  { mayStart, env }: Allowed,
): TargetWords {
  if (url === undefined && command === undefined && !demo)
    throw usageError('no tool server given', 'Give url, command, or demo: true.');
  if (command !== undefined && !mayStart)
    throw usageError(
      'this MCP server may not start commands',
      'Start the tool in another way and give its url, or ask the user to add --allow-commands to the command of this MCP server.',
    );
  for (const text of [...headers.map(header => header.replace(/^[^:]*:\s*/, '')), bearer ?? '']) {
    const [, name] = /^env:(.*)$/s.exec(text) ?? [];
    if (name !== undefined && !Object.hasOwn(env, name))
      throw usageError(
        `this MCP server may not use the environment variable ${name}`,
        `Ask the user to add --allow-env ${name} to the command of this MCP server.`,
      );
  }
  return {
    options: [
      ...(demo ? ['--demo'] : []),
      ...optionWords('--command', command),
      ...optionWords('--bearer', bearer),
      ...headers.flatMap(header => optionWords('--header', header)),
    ],
    urls: url === undefined ? [] : [requireUrl(url)],
  };
}

/** `--name=value` as one word, so that a value is never read as an option. */
export function optionWords(name: string, value: string | undefined): readonly string[] {
  return value === undefined ? [] : [`${name}=${value}`];
}

/**
 * Returns the real path of a file in a folder or below.
 * @throws ProtocolCliError `usage` for other files, also behind links; `unreadable-file`
 */
export async function fileBelow(folder: string, path: string): Promise<string> {
  const whole = resolve(folder, path);
  const outside = usageError(
    `${path} is outside of the working directory`,
    `Only files in ${folder} and below are read.`,
  );
  const isOutside = (way: string) => way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way);
  if (isOutside(relative(folder, whole))) throw outside; // says nothing about what is there
  const real = await realpath(whole).catch(async error => {
    throw await readError(path, error, 'The path is relative to the working directory.');
  });
  if (isOutside(relative(await realpath(folder), real))) throw outside;
  if (!(await stat(real)).isFile()) throw usageError(`${path} is not a file`); // to read a pipe could take for ever
  return real;
}
