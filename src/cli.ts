import { homedir } from 'node:os';
import { CommanderError } from 'commander';
import { COMMANDS, commandLine, wordsForFile } from './commands/command-line.js';
import { GUIDES } from './commands/help.js';
import type { RunCommand } from './commands/options.js';
import { canDraw, type ExitStatus, PROGRAM, statusOfFailure, type Terminal } from './commands/terminal.js';
import { faultText } from './render/outputs/fault.js';
import { troubleText, wrapMessages } from './render/outputs/trouble.js';
import { type Emergency, endByForce, meetEmergencies } from './system/exit.js';
import { flushed, isClosed, quietPipes } from './system/streams.js';
import { ProtocolCliError } from './util/errors.js';

/** The composition root: the only place that knows argv and the exit status. */
export async function main(argv: readonly string[], version: string): Promise<void> {
  quietPipes(process.stdout, process.stderr);
  let isHost = false;
  const run = runnerFor(wordsAfterDashes(argv), () => {
    isHost = true;
  });
  const endAnyEmergency = meetEmergencies(emergency => endWith(emergency, isHost));
  try {
    const words = await wordsMeant(argv);
    const program = await commandLine(words, { entries: COMMANDS, guides: GUIDES, version, run });
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    endAnyEmergency(); // what is thrown follows from it
    process.exitCode = statusOfError(error, isHost);
  }
  endAnyEmergency();
  if (isTerminalGone()) endByForce('SIGHUP');
  else if (isHost) await leave();
}

/** Node could not put that back, and would abort. */
function isTerminalGone(): boolean {
  return process.stdout.isTTY === true && isClosed(process.stdout);
}

/** What is meant by no words at all, where a person could look at it; else they mean the help. */
const WORKBENCH = ['invoke', '--interactive'];

async function wordsMeant(argv: readonly string[]): Promise<readonly string[]> {
  if (argv.length === 0) return isSomebodyThere() ? WORKBENCH : argv;
  const commands = COMMANDS.map(({ name }) => name);
  return wordsForFile(argv, commands, canDraw(process));
}

function isSomebodyThere(): boolean {
  return process.stdin.isTTY === true && process.stdout.isTTY === true;
}

/** All is closed and said; only code that is not ours could still keep the process, and nobody would know why. */
async function leave(): Promise<void> {
  await Promise.all([flushed(process.stdout), flushed(process.stderr)]);
  process.exit();
}

/** The terminal is in order again, and whoever had to hear of it has. */
function endWith(emergency: Emergency, isHost: boolean): void {
  if (emergency.kind === 'quit') endByForce('SIGQUIT');
  else {
    process.exitCode = statusOfError(emergency.error, isHost);
    process.exit();
  }
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
      computes: () => void import('./system/watch-files.js').then(each => each.guardAgainstBlocking()),
      interrupt: () => process.kill(process.pid, 'SIGINT'),
    });
  };
}

/** Commander drops the dashes, and what comes after them may be another program's line. */
function wordsAfterDashes(argv: readonly string[]): readonly string[] | null {
  const at = argv.indexOf('--');
  return at < 0 ? null : argv.slice(at + 1);
}

function statusOfError(error: unknown, hasGuests: boolean): ExitStatus {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2; // commander has said what is wrong
  if (error instanceof ProtocolCliError) {
    process.stderr.write(wrapMessages(troubleText(error), process.stderr));
    return statusOfFailure(error.code);
  }
  const { version, platform, arch } = process;
  const program = `${PROGRAM}, node ${version}, ${platform} ${arch}`;
  process.stderr.write(faultText(error, { program, hasGuests, wantsStack: isStackWanted() }));
  return 1;
}

/** Not every command has room for a `-v`. */
function isStackWanted(): boolean {
  return Boolean(process.env['DEBUG']) || process.argv.some(word => word === '-v' || word === '--verbose');
}
