import { type ServerOutput, screenError, usageError } from './options.js';
import { canDraw, type Terminal } from './terminal.js';

interface ServerRequest {
  /** `-o`. */
  readonly output?: ServerOutput | undefined;
  /** Whether a screen may be the default. */
  readonly prefersScreen: boolean;
  /** What to use instead of `-o ndjson` with a command. */
  readonly ndjsonHint: string;
  /** An example of a command line with a command. */
  readonly example: string;
}

/** The command line of a server. */
export interface ServerLine {
  readonly files: readonly string[];
  readonly command: readonly string[] | null;
  readonly output: ServerOutput;
}

/** Splits `<files> -- <command>`, and selects the output. @throws ProtocolCliError `usage` */
export function readServerLine(
  words: readonly string[],
  { output, prefersScreen, ndjsonHint, example }: ServerRequest,
  terminal: Terminal,
): ServerLine {
  const { afterDashes: command } = terminal;
  if (command?.length === 0) throw usageError('no command after --', `For example: ${example}`);
  const canShowScreen = command === null && canDraw(terminal);
  if (output === 'ui' && !canShowScreen) throw screenError(terminal, 'that no command uses');
  if (output === 'ndjson' && command !== null)
    throw usageError('-o ndjson and the command would both write to stdout', ndjsonHint);
  const files = command ? words.slice(0, words.length - command.length) : words;
  const chosen: ServerOutput = output ?? (canShowScreen && prefersScreen ? 'ui' : 'plain');
  return { files, command, output: chosen };
}
