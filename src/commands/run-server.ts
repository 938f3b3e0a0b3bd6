import { isWildcard } from '../http/server.js';
import { runAttached } from '../system/child.js';
import { ProtocolCliError } from '../util/errors.js';
import type { ServerOutput } from './options.js';
import { canDraw, type ExitStatus, type Interruption, interruption, type Terminal } from './terminal.js';

/** How the commands that serve share their command line, their first line, and their end. */

/**
 * Splits `<files> -- <command>`.
 * @param example of a command line with a command
 * @throws ProtocolCliError `usage`.
 */
export function splitCommand(
  words: readonly string[],
  { afterDashes: command }: Pick<Terminal, 'afterDashes'>,
  example: string,
): { files: readonly string[]; command: readonly string[] | null } {
  if (command?.length === 0)
    throw new ProtocolCliError('usage', 'no command after --', { hint: `For example: ${example}` });
  return { files: command ? words.slice(0, words.length - command.length) : words, command };
}

interface OutputRequest {
  /** `-o`. */
  readonly output?: ServerOutput | undefined;
  readonly command: readonly string[] | null;
  /** Whether a screen may be the default. */
  readonly prefersScreen: boolean;
  /** What to do instead of `-o ndjson` beside a command. */
  readonly ndjsonHint: string;
}

/** @throws ProtocolCliError `usage`. */
export function chooseServerOutput(
  { output, command, prefersScreen, ndjsonHint }: OutputRequest,
  terminal: Terminal,
): ServerOutput {
  const canShowScreen = command === null && canDraw(terminal);
  if (output === 'ui' && !canShowScreen)
    throw new ProtocolCliError(
      'usage',
      '-o ui needs a terminal of at least 40×8 that no command uses, outside CI',
      { hint: 'Use -o plain.' },
    );
  if (output === 'ndjson' && command !== null)
    throw new ProtocolCliError('usage', '-o ndjson and the command would both write to stdout', {
      hint: ndjsonHint,
    });
  return output ?? (canShowScreen && prefersScreen ? 'ui' : 'plain');
}

/** Prints where the server is: for programs a line of JSON on stdout, for people a text. */
export function printReady(
  ready: object,
  text: string,
  { stdout, stderr }: Pick<Terminal, 'stdout' | 'stderr'>,
  {
    command = null,
    stream = stderr,
  }: { command?: readonly string[] | null; stream?: NodeJS.WriteStream } = {},
): void {
  if (stdout.isTTY !== true && command === null) stdout.write(`${JSON.stringify(ready)}\n`);
  else stream.write(`${text}\n`);
}

/** Threats, row 5. */
export function networkWarnings({ host }: { readonly host: string }): string[] {
  return isWildcard(host) ? [`the server is open to the network (--host ${host})`] : [];
}

/** Takes what has to be closed at the end, in this order. */
type OnClose = (close: () => Promise<void>) => void;

/** A server that is up and has printed where it is. */
interface Running {
  /** Environment of the command. */
  readonly env: Readonly<Record<string, string>>;
  /** Resolves when the server is to stop without a signal. */
  readonly quit: Promise<void>;
  /** After the server is closed: prints the verification. @param commandStatus 0 without a command */
  verify(commandStatus: number): Promise<ExitStatus>;
}

/**
 * Serves until the command ends, a signal comes, or the user quits; then closes everything and verifies.
 * Returns the exit status of the command if it failed, else that of the verification.
 */
export async function runServer(
  command: readonly string[] | null,
  start: (onClose: OnClose) => Promise<Running>,
): Promise<number> {
  const interrupted = interruption();
  const closing: (() => Promise<void>)[] = [];
  const close = async () => {
    for (let next = closing.shift(); next; next = closing.shift()) await next();
  };
  try {
    const { env, quit, verify } = await start(each => closing.push(each));
    const status = await runOrWait(command, env, interrupted, quit);
    await close();
    const verified = await verify(status);
    return status || verified;
  } finally {
    await close();
    interrupted.release();
  }
}

/** A server that is stopped by a signal ends normally; a command whose start was interrupted is not run. */
async function runOrWait(
  command: readonly string[] | null,
  env: Running['env'],
  interrupted: Interruption,
  quit: Promise<void>,
): Promise<number> {
  if (command) return interrupted.signalStatus() ?? runAttached({ argv: command, env });
  await Promise.race([new Promise<void>(resolve => interrupted.onSignal(resolve)), quit]);
  return 0;
}

/** The last line of a verification: the status of the command is the one that counts. */
export function commandFailure(commandStatus: number): string {
  return commandStatus === 0 ? '' : `✗ the command exited with status ${commandStatus}\n`;
}
