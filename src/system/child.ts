import { type ChildProcess, type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import type { Readable, Writable } from 'node:stream';
import { ProtocolCliError } from '../util/errors.js';
import { isRecord } from '../util/json-diagnosis.js';
import { errnoOf } from './errno.js';
import { endByForce } from './exit.js';
import { cameWithin, onSignals } from './signals.js';
import { beforeAnyEnd } from './watch-files.js';

type GroupLeader = ChildProcessByStdio<null, Readable, Readable>;
type SpokenToLeader = ChildProcessByStdio<Writable, Readable, Readable>;

interface CommandOptions {
  /** Run by `sh -c`. */
  readonly command: string;
  readonly cwd?: string;
  /** Added to ours. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Starts a command in a process group of its own, so that what it starts can be ended with it. */
function spawnGroup({ command, cwd, env }: CommandOptions): GroupLeader {
  return spawn('sh', ['-c', command], {
    cwd,
    env: { ...process.env, ...env, RAP_EMBEDDED: '1' },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** The same for a command that is talked to over its stdin and stdout. */
function spawnSpokenTo({ command, cwd, env }: CommandOptions): SpokenToLeader {
  return spawn('sh', ['-c', command], {
    cwd,
    env: { ...process.env, ...env },
    detached: true,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

/** ESRCH: the group has ended. EPERM: macOS says so of one that has ended and was not yet waited for. */
const GONE = new Set(['ESRCH', 'EPERM']);

/** Sends a signal to a whole group; one that has ended already is fine. */
function signalGroup({ pid }: { readonly pid?: number | undefined }, signal: NodeJS.Signals): void {
  if (pid !== undefined) signalProcess(-pid, signal);
}

/** Sends a signal to a process, or with a negative number to a group; one that has ended already is fine. */
function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!GONE.has(errnoOf(error))) throw error;
  }
}

const LONGEST_LINE = 64 * 1024;

interface Ready {
  readonly port: number;
  /** All that the line said. */
  readonly said: Record<string, unknown>;
}

/**
 * Reads the first line of a stream, and lets the rest run dry.
 * @throws Error where the stream ends before the line does, or the line is longer than 64 KiB.
 */
function firstLine(stream: Readable): Promise<string> {
  return new Promise((resolve, reject) => {
    let line = '';
    const take = (text: string) => {
      line += text;
      const end = line.indexOf('\n');
      if (end < 0 && line.length <= LONGEST_LINE) return;
      stream.off('data', take).resume();
      if (end >= 0 && end <= LONGEST_LINE) resolve(line.slice(0, end));
      else reject(new Error('its first line is longer than 64 KiB'));
    };
    stream
      .setEncoding('utf8')
      .on('data', take)
      .once('close', () => reject(new Error('it closed its stdout before the first line ended')));
  });
}

/**
 * Reads `{"port":N, …}`.
 * @throws Error which says what the line is instead.
 */
function parseReady(line: string): Ready {
  const said = parseObject(line);
  const port = said?.port;
  if (!said) throw new Error('its first line is not a JSON object');
  if (typeof port !== 'number' || !Number.isInteger(port) || port < 1 || port > 65_535)
    throw new Error('its first line has no "port" from 1 to 65535');
  return { port, said };
}

function parseObject(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

const KEPT_CHARACTERS = 4_096;
const SHOWN_LINES = 10;

/** Reads a stream as text, passes it on as it comes, and keeps its last lines. Returns how to get those. */
function keepTail(stream: Readable, onText?: (text: string) => void): () => string[] {
  let kept = '';
  stream.setEncoding('utf8').on('data', (text: string) => {
    kept = (kept + text).slice(-KEPT_CHARACTERS);
    onText?.(text);
  });
  return () => kept.trimEnd().split('\n').slice(-SHOWN_LINES).filter(Boolean);
}

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

/**
 * Resolves once its last output has been read; a process that it started may hold the pipe, so this waits for it only a moment.
 * Never rejects: what could not be started has ended too.
 */
function exitOf(child: GroupLeader): Promise<Exit> {
  const stderrEnded = closing(child.stderr);
  return new Promise(resolve => {
    child.once('exit', (code, signal) => {
      void cameWithin(stderrEnded, EXIT_AFTER_OUTPUT_MS).then(() => resolve({ code, signal }));
    });
    child.once('error', () => resolve({ code: null, signal: null }));
  });
}

/** How it ended, where it did so by itself; empty otherwise. */
async function endingOf(exited: Promise<Exit>): Promise<string> {
  if (!(await cameWithin(exited, 2 * EXIT_AFTER_OUTPUT_MS))) return '';
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

/** How Node.js, Python, Go and others report it; most name the port on that line. */
const PORT_IN_USE = /^.*(?:EADDRINUSE|address (?:is )?already in use).*$/im;

function hintFor(stderr: readonly string[]): string {
  const line = PORT_IN_USE.exec(stderr.join('\n'))?.[0];
  if (line === undefined)
    return 'The first line on its stdout must be JSON with the port it serves, as {"port":3001}.';
  const port = /:(\d{2,5})\b/.exec(line)?.[1];
  const what = port === undefined ? 'Its port' : `Port ${port}`;
  return `${what} is already in use: stop the program that listens there, or let the server choose a free port.`;
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
    hint: hintFor(stderr),
    cause: problem,
  });
}

/** After its stdin was closed; after SIGTERM; after SIGKILL. */
const LEAVE_MS = 500;
const TERM_MS = 1_500;
const SPOKEN_COMMAND_DEATH_MS = 500;

interface SpokenCommandOptions extends CommandOptions {
  /** Gets what it writes to stderr, as it comes. */
  readonly onStderr?: (text: string) => void;
}

/** A command that is talked to over its stdin and stdout. */
export interface SpokenCommand {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** The last lines of its stderr. */
  readonly stderr: () => string[];
  /** Resolves when it has ended: how, in words. */
  readonly ended: Promise<string>;
  /** Closes its stdin, then terminates it with everything it started, then kills what is left. */
  stop(): Promise<void>;
}

/** Starts a command by a shell. It ends with this process, also by a second signal or SIGQUIT. */
export function startSpokenCommand({ onStderr, ...options }: SpokenCommandOptions): SpokenCommand {
  const child = spawnSpokenTo(options);
  const stderr = keepTail(child.stderr, onStderr);
  child.stdin.on('error', () => {}); // one that has ended reads no more: `ended` says so
  const kill = () => signalGroup(child, 'SIGKILL');
  const forget = beforeAnyEnd(kill);
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= end(child).finally(forget);
    return stopped;
  };
  return { stdin: child.stdin, stdout: child.stdout, stderr, ended: endOf(child), stop };
}

function endOf(child: SpokenToLeader): Promise<string> {
  return new Promise(resolve => {
    child.once('error', ({ message }) => resolve(`could not be started: ${message}`));
    // Its last words come before its end.
    child.once('close', (code, signal) => resolve(`ended with ${signal ?? `status ${code}`}`));
    child.once('exit', (code, signal) => {
      void cameWithin(new Promise(closed => child.once('close', closed)), LEAVE_MS).then(() =>
        resolve(`ended with ${signal ?? `status ${code}`}`),
      );
    });
  });
}

/** The pipes close when the last of the group has gone: the leader alone may go first. */
async function end(child: SpokenToLeader): Promise<void> {
  const closed = Promise.all([spokenCommandClosing(child.stdout), spokenCommandClosing(child.stderr)]);
  child.stdout.resume();
  child.stdin.end();
  if (!(await cameWithin(closed, LEAVE_MS))) {
    signalGroup(child, 'SIGTERM');
    await cameWithin(closed, TERM_MS);
  }
  signalGroup(child, 'SIGKILL');
  await cameWithin(closed, SPOKEN_COMMAND_DEATH_MS);
  child.stdout.destroy(); // one that left the group may hold them for ever
  child.stderr.destroy();
  child.stdin.destroy();
}

function spokenCommandClosing(stream: Readable): Promise<void> {
  return new Promise(resolve => {
    if (stream.closed) resolve();
    else stream.once('close', resolve);
  });
}

interface AttachedCommand {
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
