import { AsyncLocalStorage } from 'node:async_hooks';
import { tmpdir } from 'node:os';
import { Readable, Writable } from 'node:stream';
import { type Command, CommanderError } from 'commander';
import { commandLine } from '../../../src/commands/command-line.js';
import { statusOfFailure } from '../../../src/commands/exit-status.js';
import { COMMANDS } from '../../../src/commands/index.js';
import '../../../src/commands/invoke/start.js'; // loaded now, since to load it takes longer than some calls may
import type { Terminal } from '../../../src/commands/terminal.js';
import { ProtocolCliError } from '../../../src/errors.js';
import '../../../src/reporters/json.js';
import { troubleText } from '../../../src/reporters/trouble.js';
import type { EndingSignal } from '../../../src/system/signals.js';
import { type Live, saidIn } from './live.js';
import type { Ended, RunOptions } from './program.js';

/**
 * The same as `run`, in this process, for tables of many cases that are about what is said and not about the process: to start one takes
 * longer than all the rest. The command line is read as ever, and everything is sent and received as ever. What it cannot show: signals,
 * a reader that goes away, and files named relative to `cwd`, which is told to the command but is not where this process is.
 */
export function runHere(args: readonly string[], options?: RunOptions): Promise<Ended> {
  return startHere(args, options).ended;
}

export interface Here extends Omit<Live, 'interrupt'> {
  /** What it said on each stream, so far. */
  told(): string;
  said(): string;
  /** As one signal that asks to end, told to nobody else in this process; a second one would end us all, and is kept back. */
  signal(name: EndingSignal): void;
}

/** The same as `startLive`, in this process, to be met while it runs. */
export function startHere(args: readonly string[], options: RunOptions = {}): Here {
  const [stdout, stderr] = [gatherer(), gatherer()];
  const handlers: SignalHandlers = new Set();
  const terminal = terminalFor(args, stdout.stream, stderr.stream, options);
  return {
    told: stdout.text,
    said: stderr.text,
    says: what => saidIn(() => stdout.text() + stderr.text(), what),
    ended: startedBy
      .run(handlers, () => statusIn(terminal, args))
      .then(status => ({
        ...{ status, bytes: stdout.bytes(), stdout: stdout.text(), stderr: stderr.text() },
      })),
    signal(name) {
      const listening = process.listeners(name);
      for (const handler of [...handlers]) if (listening.includes(handler)) handler(name);
      handlers.clear();
    },
  };
}

type SignalHandlers = Set<NodeJS.SignalsListener>;

/** Whatever a command does, it does for the one that started it: so it is known whose signal handler is whose. */
const startedBy = new AsyncLocalStorage<SignalHandlers>();
process.on('newListener', (event, handler) => {
  if (event === 'SIGTERM') startedBy.getStore()?.add(handler);
});

function terminalFor(
  args: readonly string[],
  stdout: Writable,
  stderr: Writable,
  { env: more = {}, cwd = tmpdir(), stdin = '' }: RunOptions,
): Terminal {
  const dashes = args.indexOf('--');
  const afterDashes = dashes < 0 ? null : args.slice(dashes + 1);
  const env = { PATH: process.env['PATH'], HOME: '/nonexistent', NO_COLOR: '1', ...more };
  const streams = { stdin: Readable.from([Buffer.from(stdin)]), stdout, stderr };
  return { ...streams, env, afterDashes, cwd, home: env.HOME, hostsCode: () => {} } as unknown as Terminal;
}

/** What the process would end with. */
async function statusIn(terminal: Terminal, args: readonly string[]): Promise<number> {
  let status = 0;
  const run = async (body: (terminal: Terminal) => Promise<number>) => {
    status = await body(terminal);
  };
  try {
    const program = await commandLine(args, { entries: COMMANDS, version: '0.0.0', run });
    tellInto(program, terminal);
    await program.parseAsync(args, { from: 'user' });
    return status;
  } catch (error) {
    return statusOf(error, terminal);
  }
}

/** What commander itself says goes where the rest goes. */
function tellInto(command: Command, { stdout, stderr }: Pick<Terminal, 'stdout' | 'stderr'>): void {
  command.configureOutput({ writeOut: text => stdout.write(text), writeErr: text => stderr.write(text) });
  for (const subcommand of command.commands) tellInto(subcommand, { stdout, stderr });
}

/** As the composition root decides it. @throws what is a fault of ours. */
function statusOf(error: unknown, { stderr }: Pick<Terminal, 'stderr'>): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (!(error instanceof ProtocolCliError)) throw error;
  stderr.write(troubleText(error));
  return statusOfFailure(error.code);
}

/** A pipe that somebody reads to its end. */
function gatherer() {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk, _, done) {
      chunks.push(Buffer.from(chunk));
      done();
    },
  });
  const bytes = () => Buffer.concat(chunks);
  return { stream, bytes, text: () => bytes().toString('utf8') };
}
