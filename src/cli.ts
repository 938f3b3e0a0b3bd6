import { homedir } from 'node:os';
import { CommanderError } from 'commander';
import { commandLine, wordsForFile } from './commands/command-line.js';
import type { RunCommand } from './commands/options.js';
import { canDraw, type ExitStatus, PROGRAM, statusOfFailure, type Terminal } from './commands/terminal.js';
import { faultText, troubleText, wrapMessages } from './render/outputs/trouble.js';
import { endByForce, guardAgainstBlocking, handleEmergencies } from './system/process.js';
import { isClosed, quietPipes } from './system/streams.js';
import { ProtocolCliError } from './util/errors.js';

/** The composition root: the only module that reads argv and sets the exit status. */
export async function main(argv: readonly string[], version: string): Promise<void> {
  quietPipes(process.stdout, process.stderr);
  let isHost = false;
  const run = runnerFor(wordsAfterDashes(argv), () => {
    isHost = true;
  });
  const endAnyEmergency = handleEmergencies(error => {
    process.exitCode = statusOfError(error, isHost);
    process.exit(); // after the terminal was reset
  });
  try {
    const words = await commandWords(argv);
    const program = await commandLine(words, version, run);
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    endAnyEmergency(); // the reset error that follows is caused by the emergency
    process.exitCode = statusOfError(error, isHost);
  }
  endAnyEmergency();
  if (isTerminalGone()) endByForce('SIGHUP');
  else if (isHost) await leave();
}

/** Node aborts if it resets a terminal that no longer exists. */
function isTerminalGone(): boolean {
  return process.stdout.isTTY === true && isClosed(process.stdout);
}

/** The default command on a terminal when no arguments are given. */
const WORKBENCH = ['invoke', '--interactive'];

/** Returns the command to run: the default command without arguments, or the viewer if the first argument is a file. */
async function commandWords(argv: readonly string[]): Promise<readonly string[]> {
  const isTerminal = process.stdin.isTTY === true && process.stdout.isTTY === true;
  if (argv.length === 0) return isTerminal ? WORKBENCH : argv;
  return wordsForFile(argv, canDraw(process));
}

/** Exits even if user handlers keep the event loop alive. */
async function leave(): Promise<void> {
  const flushed = (stream: NodeJS.WriteStream) => new Promise(resolve => void stream.write('', resolve));
  await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
  process.exit();
}

function runnerFor(afterDashes: Terminal['afterDashes'], hostsCode: () => void): RunCommand {
  return async body => {
    const { stdin, stdout, stderr, env } = process;
    process.exitCode = await body({
      stdin,
      stdout,
      stderr,
      env,
      afterDashes,
      cwd: process.cwd(),
      home: homedir(),
      hostsCode,
      computes: guardAgainstBlocking,
      interrupt: () => process.kill(process.pid, 'SIGINT'),
    });
  };
}

/** Returns the arguments after `--`. Commander drops `--` itself, and those arguments may belong to another program. */
function wordsAfterDashes(argv: readonly string[]): readonly string[] | null {
  const at = argv.indexOf('--');
  return at < 0 ? null : argv.slice(at + 1);
}

function statusOfError(error: unknown, hasUserCode: boolean): ExitStatus {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2; // commander has printed the error
  if (error instanceof ProtocolCliError) {
    process.stderr.write(wrapMessages(troubleText(error), process.stderr));
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
