import { isWildcard } from '../http/guard.js';
import type { CommandResult, VerifiedRun } from '../render/outputs/verification.js';
import { runAttached } from '../system/run-attached.js';
import { ProtocolCliError } from '../util/errors.js';
import { elapsedMs } from '../util/text.js';
import { Run, type RunOptions } from './run.js';
import { type ExitStatus, PROGRAM, type Terminal } from './terminal.js';

/** Registers something to close at the end, in this order. */
type OnClose = (close: () => Promise<void>) => void;

/** A started server that has printed its address. */
interface Running {
  /** Environment of the command. */
  readonly env?: Readonly<Record<string, string>>;
  /** Resolves when the server is to stop without a signal; rejects with an error that ends it. */
  readonly quit: Promise<unknown>;
  /** Called after the server is closed; writes the verification. */
  verify?(run: VerifiedRun): Promise<ExitStatus>;
}

interface ServerOptions extends RunOptions {
  /** To run beside the server; without it, the server runs until it is stopped. */
  readonly command?: readonly string[] | null;
}

/**
 * Runs the server until the command ends, a signal arrives, or the user quits; then closes everything, verifies, and ends the
 * transcript. Returns the exit status of the command if it failed, otherwise that of the verification.
 */
export async function runServer(
  { command = null, ...options }: ServerOptions,
  start: (run: Run, onClose: OnClose) => Promise<Running>,
): Promise<number> {
  const run = new Run(options);
  const closing: (() => Promise<void>)[] = [];
  const close = async () => {
    for (let next = closing.shift(); next; next = closing.shift()) await next();
  };
  let reason = 'done';
  const startedAt = run.clock.now();
  try {
    const running = await start(run, each => closing.push(each));
    const ended = await runOrWait(command, running, run);
    await close();
    const ms = elapsedMs(run.clock.now(), startedAt);
    const verified = (await running.verify?.({ program: PROGRAM, command: ended, ms })) ?? 0;
    return ended?.status || verified;
  } catch (error) {
    reason = error instanceof ProtocolCliError ? error.code : 'failed';
    throw error;
  } finally {
    await close().finally(() => run.stop());
    await run.endTranscript(reason);
  }
}

/** A signal is a normal end of the server; a command whose start was interrupted is not run. */
async function runOrWait(
  command: readonly string[] | null,
  { env = {}, quit }: Running,
  { interrupted, clock }: Run,
): Promise<CommandResult | null> {
  if (command) {
    const startedAt = clock.now();
    const status = interrupted.status ?? (await runAttached(command, env));
    return { status, ms: elapsedMs(clock.now(), startedAt) };
  }
  await Promise.race([new Promise<void>(resolve => interrupted.onSignal(resolve)), quit]);
  return null;
}

/** Prints the server's address: a line of JSON on stdout for programs, a text for people. */
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

/** Returns a warning if the server is open to the network (threats, row 5). */
export function networkWarnings({ host }: { readonly host: string }): string[] {
  return isWildcard(host) ? [`the server is open to the network (--host ${host})`] : [];
}
