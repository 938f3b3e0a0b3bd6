import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { ProtocolCliError } from '../errors.js';
import { beforeAnyEnd } from './any-end.js';
import { errnoOf } from './errno.js';
import { endByForce } from './forced-end.js';
import { signalGroup, signalProcess } from './process-group.js';
import { onSignals } from './signals.js';

export interface AttachedCommand {
  /** The program and its arguments, as given: no shell reads them. */
  readonly argv: readonly string[];
  /** Added to ours. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Runs a command in our place: stdin, stdout and stderr are its own. On a terminal it stays in our process group, so that a Ctrl-C
 * reaches it as it reaches us; elsewhere it leads a group of its own. Signals sent to us are passed on to it and to what it started;
 * the second signal of a kind kills them and ends us. Resolves to its exit status as a shell has it: 128 plus the number of a signal.
 * @throws ProtocolCliError `usage` where it could not be started.
 */
export async function runAttached({ argv: [program = '', ...rest], env }: AttachedCommand): Promise<number> {
  const detached = !isOnTerminal();
  let child: ChildProcess | undefined;
  const signalAll = (signal: NodeJS.Signals) => {
    if (child) (detached ? signalGroup : signalTree)(child, signal);
  };
  const release = passSignals(signalAll); // before the start: a signal may come while that goes on
  try {
    child = spawn(program, rest, { stdio: 'inherit', env: { ...process.env, ...env }, detached });
    const [code, signal]: [number | null, NodeJS.Signals | null] = await onceExited(child);
    if (detached) signalGroup(child, 'SIGTERM'); // what it started and left behind
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

function passSignals(signalAll: (signal: NodeJS.Signals) => void): () => void {
  const forget = beforeAnyEnd(() => signalAll('SIGKILL'));
  const seen = new Set<NodeJS.Signals>();
  const stopListening = onSignals(signal => {
    if (seen.has(signal) && signal !== 'SIGHUP') {
      signalAll('SIGKILL');
      release();
      return endByForce(signal);
    }
    seen.add(signal);
    if (signal !== 'SIGINT' || !isOnTerminal()) signalAll(signal);
  });
  const release = () => {
    stopListening();
    forget();
  };
  return release;
}

/** Signals a process and what it started, as far as the list of processes shows that. */
function signalTree({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  const { stdout = '' } = spawnSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' });
  const processes = stdout.split('\n').map(line => line.trim().split(/\s+/).map(Number));
  const found = [pid];
  for (const parent of found) // grows meanwhile
    found.push(...processes.flatMap(([own = 0, its]) => (its === parent ? [own] : [])));
  for (const each of found) signalProcess(each, signal);
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
