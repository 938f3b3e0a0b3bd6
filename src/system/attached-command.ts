import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { ProtocolCliError } from '../errors.js';
import { errnoOf } from './errno.js';
import { onSignals } from './signals.js';

export interface AttachedCommand {
  /** The program and its arguments, as given: no shell reads them. */
  readonly argv: readonly string[];
  /** Added to ours. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Runs a command in our place on the terminal: stdin, stdout and stderr are its own. It stays in our process group, so that a
 * Ctrl-C reaches it as it reaches us; what only we are sent is passed on. Resolves to its exit status, as a shell has it:
 * 128 and the signal's number where one ended it.
 * @throws ProtocolCliError `usage` where it could not be started.
 */
export async function runAttached({ argv: [program = '', ...rest], env }: AttachedCommand): Promise<number> {
  const child = spawn(program, rest, { stdio: 'inherit', env: { ...process.env, ...env } });
  const release = passSignalsTo(child);
  try {
    const [code, signal]: [number | null, NodeJS.Signals | null] = await onceExited(child);
    return code ?? 128 + (signal ? constants.signals[signal] : 0);
  } catch (cause) {
    throw notStarted(program, cause);
  } finally {
    release();
  }
}

async function onceExited(child: ChildProcess): Promise<[number | null, NodeJS.Signals | null]> {
  const [code, signal] = await once(child, 'exit');
  return [code, signal];
}

/** It does not outlive us, as long as we end by ourselves. */
function passSignalsTo(child: ChildProcess): () => void {
  const end = () => child.kill();
  process.once('exit', end);
  const release = onSignals(signal => {
    if (signal !== 'SIGINT' || !isOnTerminal()) child.kill(signal);
  });
  return () => {
    process.off('exit', end);
    release();
  };
}

/** A terminal interrupts all of us by itself; a second interruption would be taken for impatience. */
function isOnTerminal(): boolean {
  return [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such program',
  EACCES: 'it may not be executed',
};

function notStarted(program: string, cause: unknown): ProtocolCliError {
  const reason = REASONS[errnoOf(cause)] ?? (cause instanceof Error ? cause.message : String(cause));
  return new ProtocolCliError('usage', `the command "${program}" did not start: ${reason}`, {
    hint: 'After -- comes a program and its arguments, not a line for a shell: for one, use -- sh -c "…".',
    cause,
  });
}
