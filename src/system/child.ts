import type { Readable } from 'node:stream';
import { ProtocolCliError } from '../errors.js';
import { beforeAnyEnd } from './any-end.js';
import { type CommandOptions, type GroupLeader, signalGroup, spawnGroup } from './process-group.js';
import { firstLine, parseReady, type Ready } from './ready-line.js';
import { keepTail } from './tail.js';
import { cameWithin } from './within.js';

const STOP_MS = 2_000;
const DEATH_MS = 500;
const READY_MS = 10_000;
const EXIT_AFTER_OUTPUT_MS = 200;

export interface StartOptions extends CommandOptions {
  /** Milliseconds until its first line must be there; 10,000 unless told. */
  readonly readyWithinMs?: number;
  /** Stops it while it is not ready yet. */
  readonly signal?: AbortSignal;
  /** Gets what it writes to stderr, as it comes. */
  readonly onStderr?: (text: string) => void;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface RunningCommand {
  readonly port: number;
  /** `http://127.0.0.1:port` */
  readonly url: string;
  /** All that its first line said. */
  readonly ready: Record<string, unknown>;
  /** Interrupts it with everything it started; kills what is left after 2 s. */
  stop(): Promise<void>;
  readonly exited: Promise<Exit>;
  /** Of its stderr, the last ones so far. */
  lastLines(): readonly string[];
}

/**
 * Starts a command and waits until it says, on the first line of its stdout, which port it serves: `{"port":3001}`.
 * What else it writes there is dropped. It does not outlive us, as long as we end by ourselves.
 * @throws ProtocolCliError `command-failed`, with how it ended and the last lines of its stderr.
 */
export async function startCommand(options: StartOptions): Promise<RunningCommand> {
  const child = spawnGroup(options);
  const stderr = keepTail(child.stderr, options.onStderr);
  const exited = exitOf(child);
  const stop = stopper(child, exited);
  const callOff = () => void stop();
  options.signal?.addEventListener('abort', callOff, { once: true });
  try {
    const { port, said } = await readiness(child, options.readyWithinMs ?? READY_MS);
    return { port, url: `http://127.0.0.1:${port}`, ready: said, stop, exited, lastLines: stderr };
  } catch (problem) {
    const ending = await endingOf(exited);
    await stop();
    throw failed(options.command, problem, ending, stderr());
  } finally {
    options.signal?.removeEventListener('abort', callOff);
  }
}

async function readiness(child: GroupLeader, ms: number): Promise<Ready> {
  const broken = new Promise<never>((_, reject) => child.once('error', reject));
  const line = Promise.race([firstLine(child.stdout), broken]);
  if (!(await cameWithin(line, ms))) throw new Error(`it was not ready within ${ms} ms`);
  return parseReady(await line);
}

/** Never rejects: what could not be started has ended too. */
function exitOf(child: GroupLeader): Promise<Exit> {
  return new Promise(resolve => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', () => resolve({ code: null, signal: null }));
  });
}

/** How it ended, where it did so by itself; empty otherwise. */
async function endingOf(exited: Promise<Exit>): Promise<string> {
  if (!(await cameWithin(exited, EXIT_AFTER_OUTPUT_MS))) return '';
  const { code, signal } = await exited;
  if (code === null && signal === null) return '';
  return `, and ended with ${signal ?? `status ${code}`}`;
}

function stopper(child: GroupLeader, exited: Promise<Exit>): () => Promise<void> {
  const kill = () => signalGroup(child, 'SIGKILL');
  const forget = beforeAnyEnd(kill);
  let stopped: Promise<void> | undefined;
  return () => {
    stopped ??= stopGroup(child, exited).finally(forget);
    return stopped;
  };
}

/** The pipes close when the last of the group has gone: the leader alone may go first. */
async function stopGroup(child: GroupLeader, exited: Promise<Exit>): Promise<void> {
  const closed = Promise.all([closing(child.stdout), closing(child.stderr), exited]);
  signalGroup(child, 'SIGINT');
  await cameWithin(closed, STOP_MS);
  signalGroup(child, 'SIGKILL');
  await cameWithin(closed, DEATH_MS);
  child.stdout.destroy(); // one that left the group may hold them for ever
  child.stderr.destroy();
  await exited;
}

function closing(stream: Readable): Promise<void> {
  return new Promise(resolve => {
    if (stream.closed) resolve();
    else stream.once('close', resolve);
  });
}

function failed(
  command: string,
  problem: unknown,
  ending: string,
  stderr: readonly string[],
): ProtocolCliError {
  const what = problem instanceof Error ? problem.message : String(problem);
  return new ProtocolCliError('command-failed', `the command "${command}" did not start: ${what}${ending}`, {
    faults: stderr,
    hint: 'The first line on its stdout must be JSON with the port it serves, as {"port":3001}.',
    cause: problem,
  });
}
