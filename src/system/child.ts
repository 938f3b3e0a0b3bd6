import { type ChildProcess, type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { errnoOf, messageOf, ProtocolCliError } from '../util/errors.js';
import { parseJson } from '../util/json.js';
import { LIMITS } from '../util/limits.js';
import { formatDuration, truncate } from '../util/text.js';
import { isSafeToVisit } from '../util/url.js';
import { isRecord } from '../util/values.js';
import { beforeAnyEnd, endByForce, finishedWithin, onSignals } from './process.js';
import type { Sink } from './streams.js';

interface CommandOptions {
  /** Command line for `sh -c`. */
  readonly command: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly onStderr?: Sink;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const KEPT_CHARACTERS = 4_096;

const SHOWN_LINES = 10;

/** How many lines to search for the error: a stack may follow it. */
const SEARCHED_LINES = 30;

/** The start of the error line of a crashed program, in Node.js, Python, Java, Go and Rust. */
const ERROR = /^\s*(?:Uncaught )?(?:[\w.]*(?:Error|Exception)\b|panic\b|thread .* panicked\b)/;

export function isErrorLine(line: string): boolean {
  return ERROR.test(line);
}

const LAST_OUTPUT_MS = 200;

const KILL_MS = 500;

type Stops = readonly (readonly [NodeJS.Signals | 'stdin', number])[];

/** What a command reaches without a proxy: our tools, runtimes and callback listeners. */
const LOOPBACK = ['127.0.0.1', 'localhost', '::1'];

/** Our environment, with more variables. Many HTTP clients send requests for loopback addresses to a proxy unless `NO_PROXY` names these. */
function environmentWith(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const env = { ...process.env, ...more };
  const isProxied = Object.keys(env).some(name => /^(?:https?|all)_proxy$/i.test(name) && env[name]);
  if (!isProxied) return env;
  const known = env['no_proxy'] || env['NO_PROXY'] || '';
  const names = known.split(',').flatMap(name => name.trim() || []);
  const all = [...names, ...LOOPBACK.filter(name => !names.includes(name))].join(',');
  return { ...env, NO_PROXY: all, no_proxy: all };
}

/** A command in a shell and its own process group, so that its descendants end with it, and with this process. */
class Group {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly exited: Promise<Exit>;
  problem: Error | null = null;
  #stderr = '';
  #stopped: Promise<void> | undefined;
  readonly #forget: () => void;

  constructor({ command, cwd, env, onStderr }: CommandOptions) {
    this.child = spawn('sh', ['-c', command], {
      cwd,
      env: environmentWith(env),
      detached: true,
      stdio: 'pipe',
    });
    this.child.stdin.on('error', () => {}); // its exit reports a command that stopped reading
    const { stderr } = this.child;
    stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-KEPT_CHARACTERS);
      if (!onStderr) return;
      if (!this.#stopped) stderr.pause(); // the command waits until the text is taken
      void onStderr(text).finally(() => stderr.resume());
    });
    this.exited = this.#exit();
    this.#forget = beforeAnyEnd(() => signalGroup(this.child, 'SIGKILL'));
  }

  /** The last lines of its stderr, after the last error line if that is earlier. */
  lastLines(): string[] {
    const lines = this.#stderr.trimEnd().split('\n').slice(-SEARCHED_LINES).filter(Boolean);
    const last = lines.slice(-SHOWN_LINES);
    const error = last.some(isErrorLine) ? undefined : lines.findLast(isErrorLine);
    return error === undefined ? last : [error, ...last.slice(1)];
  }

  /** Ends the group: waits the given ms after each signal, then kills what is left. */
  stop(signals: Stops): Promise<void> {
    this.#stopped ??= this.#end(signals).finally(this.#forget);
    return this.#stopped;
  }

  /** The pipes close when the last process of the group has ended, which may be after the leader. */
  async #end(signals: Stops): Promise<void> {
    const { stdin, stdout, stderr } = this.child;
    const ended = Promise.all([closing(stdout), closing(stderr), this.exited]);
    for (const stream of [stdout, stderr]) stream.resume();
    for (const [signal, ms] of signals) {
      if (signal === 'stdin') stdin.end();
      else signalGroup(this.child, signal);
      if (await finishedWithin(ended, ms)) break;
    }
    signalGroup(this.child, 'SIGKILL');
    await finishedWithin(ended, KILL_MS);
    for (const stream of [stdin, stdout, stderr]) stream.destroy(); // a process that left the group may keep them open
    await this.exited;
  }

  /** Resolves after the last output. A process that the command started may keep the pipe open, so this waits only a moment. */
  #exit(): Promise<Exit> {
    const output = Promise.all([closing(this.child.stderr), closing(this.child.stdout)]);
    return new Promise(resolve => {
      this.child.once('exit', (code, signal) => {
        void finishedWithin(output, LAST_OUTPUT_MS).then(() => resolve({ code, signal }));
      });
      this.child.once('error', error => {
        this.problem = error;
        resolve({ code: null, signal: null });
      });
    });
  }
}

function closing(stream: Readable): Promise<unknown> {
  return stream.closed ? Promise.resolve() : new Promise(resolve => stream.once('close', resolve));
}

/** ESRCH: the group has ended. EPERM: macOS reports it for an ended group that was not yet waited for. */
const GONE = new Set(['ESRCH', 'EPERM']);

function signalGroup({ pid }: { readonly pid?: number | undefined }, signal: NodeJS.Signals): void {
  if (pid !== undefined) signalProcess(-pid, signal);
}

/** Sends a signal to a process, or with a negative number to a group, unless it has ended. */
function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if (!GONE.has(errnoOf(error))) throw error;
  }
}

interface StartOptions extends CommandOptions {
  readonly readyWithinMs?: number;
  /** Resolves to the server's URL as soon as it answers there; without it, the server prints its port. */
  readonly answering?: (signal: AbortSignal) => Promise<string>;
  readonly signal?: AbortSignal;
  /** Receives remarks about the start: what came before the port, and that it takes long. */
  readonly onRemark?: (text: string) => void;
}

const READY_MS = 10_000;

/** The pause between two remarks about a start that takes long, in ms. */
const REMARK_MS = 5_000;

const INTERRUPT = [['SIGINT', 2_000]] as const;

/**
 * Starts a server and waits until it is ready: for the first line of its stdout that is an object with a port, as `{"port":3001}`, or
 * for `answering`. Other output is dropped. The command ends with this process; `stop` interrupts it and its descendants, and kills
 * what is left after 2 s.
 * @throws ProtocolCliError `command-failed`, with its exit status and the last lines of its stderr.
 */
export async function startCommand({ readyWithinMs = READY_MS, signal, env, ...options }: StartOptions) {
  const { answering, onRemark, ...command } = options;
  const group = new Group({ ...command, env: { ...env, RAP_EMBEDDED: '1' } });
  group.child.stdin.end();
  const stop = () => group.stop(INTERRUPT);
  const cancel = () => void stop();
  signal?.addEventListener('abort', cancel, { once: true });
  const lastLines = () => group.lastLines();
  const output = new StartOutput(group.child.stdout);
  const begun = performance.now();
  const remarks = setInterval(() => {
    const seconds = Math.round((performance.now() - begun) / 1000);
    onRemark?.(`still starting after ${seconds}s: ${lastLines().at(-1) ?? (output.last || command.command)}`);
  }, REMARK_MS);
  try {
    const url = await readyUrl(group, output, readyWithinMs, answering);
    if (!answering && output.skipped > 0) onRemark?.(`${output.skippedText()} came before the port`);
    return { url, stop, exited: group.exited, lastLines };
  } catch (problem) {
    const ending = await endingOf(group.exited);
    await stop();
    const message = `the command "${command.command}" did not start: ${messageOf(problem)}${ending}`;
    const faults = lastLines();
    const isSilent = output.isEmpty && ending !== '';
    const hint = portHint(faults) ?? (isSilent ? silentHint(faults, command.cwd) : READY_HINT);
    throw new ProtocolCliError('command-failed', message, { faults, hint, cause: problem });
  } finally {
    clearInterval(remarks);
    signal?.removeEventListener('abort', cancel);
  }
}

/** @throws Error if the command ends, or is not ready in time */
async function readyUrl(
  { child, exited }: Group,
  output: StartOutput,
  ms: number,
  answering: StartOptions['answering'],
): Promise<string> {
  const waiting = new AbortController();
  const broken = new Promise<never>((_, reject) => child.once('error', reject));
  const ended = exited.then((): never => {
    throw new Error('it ended before it answered');
  });
  const printed = output.port.then(port => `http://127.0.0.1:${port}`);
  const ready = answering ? Promise.race([answering(waiting.signal), ended]) : printed;
  for (const unused of [ended, printed]) unused.catch(() => {}); // the other one decides
  try {
    const url = Promise.race([ready, broken]);
    if (await finishedWithin(url, ms)) return await url;
  } finally {
    waiting.abort();
  }
  const wait = `it was not ready within ${formatDuration(ms)} (--ready-timeout)`;
  throw new Error(output.skipped > 0 && !answering ? `${wait}; ${output.skippedText()} came` : wait);
}

const WROTE_NOTHING = 'it wrote nothing to stdout';

/** The stdout of a server while it starts: banners and debug lines may come before its port. */
class StartOutput {
  /** Rejects if the output ends before it. */
  readonly port: Promise<number>;
  /** The last line without the port. */
  last = '';
  /** The number of lines without the port; empty ones do not count. */
  skipped = 0;
  isEmpty = true;
  #first = '';

  constructor(stream: Readable) {
    this.port = new Promise((resolve, reject) => {
      let rest = '';
      const take = (text: string) => {
        this.isEmpty = false;
        const lines = (rest + text).split('\n');
        rest = (lines.pop() ?? '').slice(0, LIMITS.startLineChars.value);
        for (const line of lines) {
          const port = this.#portIn(line);
          if (port === null) continue;
          stream.off('data', take).resume();
          return port instanceof Error ? reject(port) : resolve(port);
        }
      };
      const end = () => {
        const port = this.#portIn(rest);
        if (typeof port === 'number') return resolve(port);
        reject(port ?? new Error(this.skipped === 0 ? WROTE_NOTHING : `${NO_PORT}: ${this.skippedText()}`));
      };
      stream.setEncoding('utf8').on('data', take).once('close', end);
    });
  }

  /** `3 lines, the first: "[GIN-debug] …"` */
  skippedText(): string {
    const first = JSON.stringify(truncate(this.#first, MAX_QUOTED));
    return this.skipped === 1 ? `the line ${first}` : `${this.skipped} lines, the first ${first}`;
  }

  /** Null if the line does not name a port; an error if it names an invalid one. */
  #portIn(text: string): number | Error | null {
    const line = stripVTControlCharacters(text).trim();
    const reading = line.startsWith('{') ? parseJson(line) : null;
    if (reading?.ok && isRecord(reading.value) && 'port' in reading.value) {
      const { port } = reading.value;
      if (typeof port === 'number' && Number.isInteger(port) && port >= 1 && port <= 65_535) return port;
      return new Error(`the "port" is not a number from 1 to 65535: ${truncate(line, MAX_QUOTED)}`);
    }
    if (line === '') return null;
    if (this.skipped++ === 0) this.#first = line;
    this.last = line;
    return null;
  }
}

const NO_PORT = 'it closed its stdout without a line such as {"port":3001}, after';

const MAX_QUOTED = 200;

/** Empty if the command is still running or was never started. */
async function endingOf(exited: Promise<Exit>): Promise<string> {
  if (!(await finishedWithin(exited, 2 * LAST_OUTPUT_MS))) return '';
  const exit = await exited;
  return exit.code === null && exit.signal === null ? '' : `, and ${endText(exit)}`;
}

/** Error texts of Node.js, Python, Go and others; most contain the port on that line. */
const PORT_IN_USE = /^.*(?:EADDRINUSE|address (?:is )?already in use).*$/im;

function portHint(stderr: readonly string[]): string | null {
  const line = PORT_IN_USE.exec(stderr.join('\n'))?.[0];
  if (line === undefined) return null;
  const port = /:(\d{2,5})\b/.exec(line)?.[1];
  const what = port === undefined ? 'Its port' : `Port ${port}`;
  return `${what} is already in use: stop the program that listens there, or let the server choose a free port.`;
}

/** Error texts of shells, Node.js, Python and others. */
const MISSING_FILE = /: (?:command )?not found|no such file|MODULE_NOT_FOUND/i;

/**
 * How to fix a command whose last lines on stderr say that a file is missing; null if they do not. Only for a command that ended without
 * output on stdout: others may write such lines about files that they do not need.
 */
export function missingFileHint(stderr: readonly string[], cwd = process.cwd()): string | null {
  if (!MISSING_FILE.test(stderr.join('\n'))) return null;
  return `Its program or a file of it was not found: check the paths; relative ones begin at ${cwd}.`;
}

const READY_LINE = 'must print a line with the port that it serves, as {"port":3001}';

const READY_HINT = `The command ${READY_LINE}; for a server on a fixed port, give its URL too.`;

function silentHint(stderr: readonly string[], cwd?: string): string {
  const other = `Run it alone to see why it ends. It must keep running, and ${READY_LINE}.`;
  return missingFileHint(stderr, cwd) ?? other;
}

export interface PipedCommand {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** The last lines of its stderr, after the error if that is earlier. */
  readonly stderr: () => string[];
  readonly ended: Promise<string>;
  /** Closes stdin, then terminates the command and its descendants, then kills what is left. */
  stop(): Promise<void>;
}

const TERMINATE = [
  ['stdin', 500],
  ['SIGTERM', 1_500],
] as const;

/** Starts a command in a shell. It ends with this process, also after a second signal or SIGQUIT. */
export function startPipedCommand(options: CommandOptions): PipedCommand {
  const group = new Group(options);
  const ended = group.exited.then(exit =>
    group.problem ? `could not be started: ${group.problem.message}` : endText(exit),
  );
  const { stdin, stdout } = group.child;
  return { stdin, stdout, stderr: () => group.lastLines(), ended, stop: () => group.stop(TERMINATE) };
}

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
    const [code, signal]: [number | null, NodeJS.Signals | null] = await exitOf(child);
    if (detached) signalGroup(child, 'SIGTERM'); // ends what the command left running
    return code ?? 128 + (signal ? constants.signals[signal] : 0);
  } catch (cause) {
    throw notStarted(program, cause);
  } finally {
    release();
  }
}

async function exitOf(child: ChildProcess): Promise<[number | null, NodeJS.Signals | null]> {
  const [code, signal] = await once(child, 'exit');
  return [code, signal];
}

function passSignals(signalAll: (signal: NodeJS.Signals) => void): () => void {
  const forget = beforeAnyEnd(() => signalAll('SIGKILL'));
  const seen = new Set<NodeJS.Signals>();
  const stopListening = onSignals(signal => {
    if (seen.has(signal) && signal !== 'SIGHUP') {
      return endByForce(signal); // kills the command
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

interface Desktop {
  readonly platform?: NodeJS.Platform;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

/**
 * Opens a page in the user's browser, only on request (threats, row 13). The URL is serialized by the URL parser, so it begins with
 * `http`, and is not parsed by a shell. Resolves when the opening program has ended.
 */
export async function openUrl(
  url: string,
  { platform = process.platform, env = process.env }: Desktop = {},
): Promise<{ readonly ok: true } | { readonly ok: false; readonly reason: string }> {
  if (!isSafeToVisit(url)) return { ok: false, reason: 'only an https page is opened (http on loopback)' };
  const [command, ...args] = openerOf(platform, env);
  try {
    const options = { env: { ...env }, stdio: 'ignore', detached: true } as const;
    const opener = spawn(command, [...args, new URL(url).href], options);
    opener.unref();
    const [code, signal] = await exitOf(opener);
    return code === 0 ? { ok: true } : { ok: false, reason: `${command} ${endText({ code, signal })}` };
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return { ok: false, reason: `${command} was not found` };
    return { ok: false, reason: `${command} could not be started: ${messageOf(error)}` };
  }
}

function openerOf(platform: NodeJS.Platform, env: Desktop['env'] = {}): readonly [string, ...string[]] {
  if (platform === 'darwin') return ['open'];
  if (platform !== 'win32') return ['xdg-open'];
  // The full path, since Windows searches the current folder first.
  const system = join(env['SystemRoot'] ?? 'C:\\Windows', 'System32');
  return [join(system, 'rundll32.exe'), 'url.dll,FileProtocolHandler'];
}

function endText({ code, signal }: Exit): string {
  return `ended with ${signal ?? `status ${code}`}`;
}
