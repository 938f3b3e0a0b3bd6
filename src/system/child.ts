import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { withoutColours } from '../util/visible.js';
import { finishedWithin } from './clock.js';
import { type Exit, endText } from './exit.js';
import { beforeAnyEnd } from './process.js';
import { signalGroup } from './process-tree.js';
import { type CommandLine, startFailure, startProcess } from './start-process.js';
import type { Sink } from './streams.js';

export interface CommandOptions {
  readonly command: CommandLine;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly onStderr?: Sink;
}

const KEPT_CHARACTERS = 4_096;

const SHOWN_LINES = 10;

/** How many lines to search for the error: a stack may follow it. */
const SEARCHED_LINES = 30;

/** How long to wait for the last output of a command that ended, in ms. */
export const LAST_OUTPUT_MS = 200;

const KILL_MS = 500;

type Stops = readonly (readonly [NodeJS.Signals | 'stdin', number])[];

/** A command in its own process group, so that its descendants end with it, and with this process. */
export class Group {
  readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly exited: Promise<Exit>;
  /** Why it could not be started. */
  problem: string | null = null;
  #stderr = '';
  #stopped: Promise<void> | undefined;
  readonly #forget: () => void;

  constructor({ command, cwd, env, onStderr }: CommandOptions) {
    const child = startProcess(command, { cwd, env, stdio: 'pipe', isAlone: true });
    this.child = child as ChildProcessByStdio<Writable, Readable, Readable>; // all three are pipes
    this.child.stdin.on('error', () => {}); // its exit reports a command that stopped reading
    const { stderr } = this.child;
    stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-KEPT_CHARACTERS);
      if (!onStderr) return;
      if (!this.#stopped) stderr.pause(); // the command waits until the text is taken
      void onStderr(text).finally(() => stderr.resume());
    });
    this.exited = this.#exit(cwd);
    this.#forget = beforeAnyEnd(() => signalGroup(this.child, 'SIGKILL'));
  }

  /** The last lines of its stderr, after the last error line if that is earlier. */
  lastLines(): string[] {
    const lines = withoutColours(this.#stderr)
      .trimEnd()
      .split(/\r?\n/)
      .slice(-SEARCHED_LINES)
      .filter(Boolean);
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
    await finishedWithin(this.exited, KILL_MS);
    this.child.unref(); // one that cannot be killed does not keep us alive
  }

  /** Resolves after the last output. A process that the command started may keep the pipe open, so this waits only a moment. */
  #exit(cwd?: string): Promise<Exit> {
    const output = Promise.all([closing(this.child.stderr), closing(this.child.stdout)]);
    return new Promise(resolve => {
      this.child.once('exit', (code, signal) => {
        void finishedWithin(output, LAST_OUTPUT_MS).then(() => resolve({ code, signal }));
      });
      this.child.once('error', error => {
        this.problem = startFailure(error, cwd);
        this.#stderr += `${this.child.spawnfile}: ${this.problem}\n`; // as a shell reports it
        resolve({ code: null, signal: null });
      });
    });
  }
}

function closing(stream: Readable): Promise<unknown> {
  return stream.closed ? Promise.resolve() : new Promise(resolve => stream.once('close', resolve));
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
    group.problem === null ? endText(exit) : `could not be started: ${group.problem}`,
  );
  const { stdin, stdout } = group.child;
  return { stdin, stdout, stderr: () => group.lastLines(), ended, stop: () => group.stop(TERMINATE) };
}

/** The start of the error line of a crashed program, in Node.js, Python, Java, Go and Rust. */
const ERROR = /^\s*(?:Uncaught )?(?:[\w.]*(?:Error|Exception)\b|panic\b|thread .* panicked\b)/;

export function isErrorLine(line: string): boolean {
  return ERROR.test(line);
}

/** Error texts of shells, Windows, Node.js, Python and others. */
const MISSING_FILE =
  /: (?:(?:command|program) )?not found|no such (?:file|folder)|is not recognized as an internal|MODULE_NOT_FOUND/i;

/**
 * How to fix a command whose last lines on stderr say that a file is missing; null if they do not. Only for a command that ended without
 * output on stdout: others may write such lines about files that they do not need.
 */
export function missingFileHint(stderr: readonly string[], cwd = process.cwd()): string | null {
  if (!MISSING_FILE.test(stderr.join('\n'))) return null;
  return `Its program or a file of it was not found: check the paths; relative ones begin at ${cwd}.`;
}
