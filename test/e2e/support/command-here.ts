// loaded now, since to load it takes longer than some calls may

import '../../../src/commands/invoke/run.js';
import '../../../src/render/outputs/call-report.js';
import { AsyncLocalStorage } from 'node:async_hooks';
import { type Command, CommanderError } from 'commander';
import { commandLine } from '../../../src/commands/command-line.js';
import { statusOfFailure, type Terminal } from '../../../src/commands/terminal.js';
import { troubleText } from '../../../src/render/outputs/trouble.js';
import type { EndingSignal } from '../../../src/system/process.js';
import { ProtocolCliError } from '../../../src/util/errors.js';

/** What a command of this process is given of the world. */
export type Surroundings = Pick<Terminal, 'stdin' | 'stdout' | 'stderr' | 'env' | 'cwd'>;

export interface CommandHere {
  /** What the process would end with. */
  readonly status: Promise<number>;
  /** As one signal that asks to end. Nothing else in this process receives it; a second one would end the process, and is held back. */
  signal(name: EndingSignal): void;
}

/** Starts a command in this process; its command line is read as ever, and everything is sent and received as ever. */
export function startCommandHere(args: readonly string[], surroundings: Surroundings): CommandHere {
  const handlers: SignalHandlers = new Set();
  const signal = (name: EndingSignal) => {
    const listening = process.listeners(name);
    for (const handler of [...handlers]) if (listening.includes(handler)) handler(name);
    handlers.clear();
  };
  const terminal: Terminal = {
    ...surroundings,
    afterDashes: wordsAfterDashes(args),
    home: '/proc/nowhere',
    announceUserCode: () => {},
    interrupt: () => signal('SIGINT'),
  };
  return { signal, status: startedBy.run(handlers, () => statusIn(terminal, args)) };
}

type SignalHandlers = Set<NodeJS.SignalsListener>;

/** Whatever a command does, it does for the one that started it: so it is known whose signal handler is whose. */
const startedBy = new AsyncLocalStorage<SignalHandlers>();

process.on('newListener', (event, handler) => {
  if (event === 'SIGTERM') startedBy.getStore()?.add(handler);
});

function wordsAfterDashes(args: readonly string[]): readonly string[] | null {
  const dashes = args.indexOf('--');
  return dashes < 0 ? null : args.slice(dashes + 1);
}

async function statusIn(terminal: Terminal, args: readonly string[]): Promise<number> {
  let status = 0;
  const run = async (body: (terminal: Terminal) => Promise<number>) => {
    status = await body(terminal);
  };
  try {
    const { program, words } = await commandLine(args, '0.0.0', run, false);
    printInto(program, terminal);
    await program.parseAsync(words, { from: 'user' });
    return status;
  } catch (error) {
    return statusOf(error, terminal);
  }
}

/** Prints the messages of commander where the command prints its own. */
function printInto(command: Command, { stdout, stderr }: Pick<Terminal, 'stdout' | 'stderr'>): void {
  command.configureOutput({ writeOut: text => stdout.write(text), writeErr: text => stderr.write(text) });
  for (const subcommand of command.commands) printInto(subcommand, { stdout, stderr });
}

/** As the composition root decides it. @throws what is a fault of ours. */
function statusOf(error: unknown, { stderr }: Pick<Terminal, 'stderr'>): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (!(error instanceof ProtocolCliError)) throw error;
  stderr.write(troubleText(error));
  return statusOfFailure(error.code);
}
