import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { constants } from 'node:os';
import { errnoOf, messageOf, ProtocolCliError } from '../util/errors.js';
import { environmentWith } from './environment.js';
import { exitOf } from './exit.js';
import { beforeAnyEnd, endByForce, onSignals } from './process.js';
import { signalGroup, signalProcess } from './signal-group.js';

/**
 * Runs a command with our stdin, stdout and stderr. On a terminal it stays in our process group, so that Ctrl-C reaches it too;
 * otherwise it gets its own group. Signals are passed on to it and its descendants; the second signal of a kind kills them and ends
 * this process. Resolves to the exit status as a shell reports it: 128 plus the signal number.
 * @param words the program and its arguments; not parsed by a shell
 * @throws ProtocolCliError `usage` if it could not be started.
 */
export async function runAttached(
  [program = '', ...rest]: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<number> {
  const detached = !isOnTerminal();
  let child: ChildProcess | undefined;
  const signalAll = (signal: NodeJS.Signals) => {
    if (child) (detached ? signalGroup : signalTree)(child, signal);
  };
  const release = passSignals(signalAll); // before the start, because a signal may arrive meanwhile
  try {
    child = spawn(program, rest, { stdio: 'inherit', env: environmentWith(env), detached });
    const { code, signal } = await exitOf(child);
    if (detached) signalGroup(child, 'SIGTERM'); // ends what the command left running
    return code ?? 128 + (signal ? constants.signals[signal] : 0);
  } catch (cause) {
    throw notStarted(program, cause);
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

/** Signals a process and its descendants in the list of processes. */
function signalTree({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  const { stdout = '' } = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  const processes = stdout.split('\n').map(line => line.trim().split(/\s+/).map(Number));
  const found = [pid];
  for (const parent of found) // grows during the loop
    found.push(...processes.flatMap(([own = 0, its]) => (its === parent ? [own] : [])));
  for (const each of found) signalProcess(each, signal);
}

/** The terminal interrupts the whole group; a second SIGINT from us would force an immediate exit. */
function isOnTerminal(): boolean {
  return [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'program not found',
  EACCES: 'it may not be executed',
};

function notStarted(program: string, cause: unknown): ProtocolCliError {
  const reason = REASONS[errnoOf(cause)] ?? messageOf(cause);
  return new ProtocolCliError('usage', `the command "${program}" did not start: ${reason}`, {
    hint: 'After -- comes a program and its arguments, not a line for a shell: for one, use -- sh -c "…".',
    cause,
  });
}
