import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { ProtocolCliError } from '../util/errors.js';
import { exitOf } from './exit.js';
import { beforeAnyEnd, endByForce, onSignals } from './process.js';
import { signalGroup, signalTree } from './process-tree.js';
import { shellOf, startFailure, startProcess } from './start-process.js';

/**
 * Runs a command with our stdin, stdout and stderr. On a terminal it stays in our process group, so that Ctrl-C reaches it too;
 * otherwise it gets its own group. Signals are passed on to it and its descendants; the second signal of a kind kills them and ends
 * this process. Resolves to the exit status as a shell reports it: 128 plus the signal number.
 * @param words the program and its arguments; not parsed by a shell
 * @throws ProtocolCliError `usage` if it could not be started.
 */
export async function runAttached(
  words: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<number> {
  const isAlone = !isOnTerminal();
  let child: ChildProcess | undefined;
  const signalAll = (signal: NodeJS.Signals) => {
    if (child) (isAlone ? signalGroup : signalTree)(child, signal);
  };
  const release = passSignals(signalAll); // before the start, because a signal may arrive meanwhile
  try {
    child = startProcess(words, { stdio: 'inherit', env, isAlone });
    const { code, signal } = await exitOf(child);
    if (isAlone) signalGroup(child, 'SIGTERM'); // ends what the command left running
    return code ?? 128 + (signal ? constants.signals[signal] : 0);
  } catch (cause) {
    throw notStarted(words, cause);
  } finally {
    release();
  }
}

/** Returns a function that stops passing them on. */
function passSignals(signalAll: (signal: NodeJS.Signals) => void): () => void {
  const forget = beforeAnyEnd(() => signalAll('SIGKILL'));
  const seen = new Set<NodeJS.Signals>();
  const stopListening = onSignals(signal => {
    if (seen.has(signal) && signal !== 'SIGHUP') return endByForce(signal); // kills the command
    seen.add(signal);
    if (signal !== 'SIGINT' || !isOnTerminal()) signalAll(signal);
  });
  return () => {
    stopListening();
    forget();
  };
}

/** The terminal interrupts the whole group; a second SIGINT from us would force an immediate exit. */
function isOnTerminal(): boolean {
  return [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
}

function notStarted([program = '']: readonly string[], cause: unknown): ProtocolCliError {
  return new ProtocolCliError('usage', `the command "${program}" did not start: ${startFailure(cause)}`, {
    hint: `After -- comes a program and its arguments, not a line for a shell: for one, use -- ${shellOf()} "…".`,
    cause,
  });
}
