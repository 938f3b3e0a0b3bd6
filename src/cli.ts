import { homedir } from 'node:os';
import { CommanderError } from 'commander';
import { commandLine } from './commands/command-line.js';
import type { RunCommand } from './commands/options.js';
import { canDraw, type ExitStatus, PROGRAM, statusOfFailure, withOwnCommand } from './commands/terminal.js';
import { faultText, troubleText, wrapMessages } from './render/outputs/trouble.js';
import { endByForce, handleEmergencies, interrupt } from './system/process.js';
import { ignoreClosedPipes, isClosed, outputOf } from './system/streams.js';
import { ProtocolCliError } from './util/errors.js';
import { hasForeignQuotes } from './util/shell-word.js';

/** The composition root: the only module that reads argv and sets the exit status. */
export async function main(argv: readonly string[], version: string): Promise<void> {
  ignoreClosedPipes(process.stdout, process.stderr);
  let runsUserCode = false;
  const announceUserCode = () => {
    runsUserCode = true;
  };
  const run: RunCommand = async body => {
    const { stdin, stdout, stderr, env } = process;
    process.exitCode = await body({
      stdin,
      stdout,
      stderr,
      env,
      announceUserCode,
      afterDashes: wordsAfterDashes(argv),
      cwd: workingDirectory(),
      home: homedir(),
      interrupt,
    });
  };
  const exitNow = (status: number) => {
    process.exitCode = status;
    process.exit(); // after the terminal was reset
  };
  const endAnyEmergency = handleEmergencies(error => exitNow(statusOfError(error, runsUserCode)), exitNow);
  try {
    const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
    const given = argv.length === 0 && isTerminal ? WORKBENCH : argv;
    const { program, words } = await commandLine(given, version, run, canDraw(process));
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    endAnyEmergency(); // the reset error that follows is caused by the emergency
    process.exitCode = statusOfError(error, runsUserCode);
  }
  endAnyEmergency();
  const isRefused = process.exitCode === 2 || process.exitCode === 4;
  if (isRefused && hasForeignQuotes(argv, process.platform)) process.stderr.write(FOREIGN_QUOTES);
  if (isTerminalGone()) endByForce('SIGHUP');
  else if (runsUserCode) await exitAfterOutput();
}

const FOREIGN_QUOTES = 'hint: cmd takes single quotes for ordinary characters; quote with "…".\n';

/** @throws ProtocolCliError `unreadable-file` if it was deleted */
function workingDirectory(): string {
  try {
    return process.cwd();
  } catch (cause) {
    throw new ProtocolCliError('unreadable-file', 'the working directory no longer exists', {
      hint: 'Change to a folder that exists, and try again.',
      cause,
    });
  }
}

/** Node aborts if it resets a terminal that no longer exists. */
function isTerminalGone(): boolean {
  return process.stdout.isTTY === true && isClosed(process.stdout);
}

/** The default command on a terminal when no arguments are given. */
const WORKBENCH = ['invoke', '--interactive'];

/** Exits even if user handlers keep the event loop alive. */
async function exitAfterOutput(): Promise<void> {
  await Promise.allSettled([process.stdout, process.stderr].map(stream => outputOf(stream).written()));
  const flushed = (stream: NodeJS.WriteStream) => new Promise(resolve => void stream.write('', resolve));
  await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
  process.exit();
}

/** Returns the arguments after `--`. Commander drops `--` itself, and those arguments may belong to another program. */
function wordsAfterDashes(argv: readonly string[]): readonly string[] | null {
  const at = argv.indexOf('--');
  return at < 0 ? null : argv.slice(at + 1);
}

function statusOfError(error: unknown, hasUserCode: boolean): ExitStatus {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2; // commander has printed the error
  if (error instanceof ProtocolCliError) {
    const text = withOwnCommand(troubleText(error), process.env);
    process.stderr.write(wrapMessages(text, process.stderr));
    return statusOfFailure(error.code);
  }
  const { version, platform, arch } = process;
  const program = `${PROGRAM}, node ${version}, ${platform} ${arch}`;
  process.stderr.write(faultText(error, { program, hasUserCode, wantsStack: isStackWanted() }));
  return 1;
}

/** Checks argv itself, because some commands do not define `-v`. */
function isStackWanted(): boolean {
  return Boolean(process.env['DEBUG']) || process.argv.some(word => word === '-v' || word === '--verbose');
}
