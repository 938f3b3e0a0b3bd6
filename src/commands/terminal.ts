import type { Reporter } from '../render/outputs/reporter.js';
import type { FailureCode } from '../render/outputs/trouble.js';
import { type ColourLevel, colourLevel } from '../render/terminal/colour-level.js';
import { endByForce, onEmergency, onSignals } from '../system/process.js';
import { tooSmallMessage } from '../tui/tty.js';
import { ProtocolCliError } from '../util/errors.js';

/** The environment of a command, which tests can replace. */
export interface Terminal {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The words after `--`; null without `--`. */
  readonly afterDashes: readonly string[] | null;
  readonly cwd: string;
  readonly home: string;
  /** Must be called before user code runs (threats, row 29): at the end, the program exits without waiting for it. */
  readonly announceUserCode: () => void;
  /** Handles Ctrl-C when it is read as a key: in raw mode the terminal does not send a signal. */
  readonly interrupt: () => void;
  /** Ends the command as Ctrl-C would. Given if it runs inside of another command. */
  readonly canceled?: AbortSignal;
  /** Receives what the command is doing, in one safe line without secrets. Given if it runs inside of another command. */
  readonly onProgress?: (text: string) => void;
}

export const OUTPUTS = ['ui', 'text', 'plain', 'json', 'ndjson'] as const;

export type Output = (typeof OUTPUTS)[number];

/** Whether a screen can be drawn: requires a terminal on both ends, enough space, no CI, and no setting for lines. */
export function canDraw({ stdin, stdout, env }: Pick<Terminal, 'stdin' | 'stdout' | 'env'>): boolean {
  const isBothWays = stdin.isTTY === true && stdout.isTTY === true && env['TERM'] !== 'dumb';
  return isBothWays && !isCi(env) && linesSetting(env) === null && tooSmallMessage(stdout) === null;
}

/** The variable with which the user asks for lines, which a screen reader can read, in place of screens; null if none is set. */
export function linesSetting(env: Terminal['env']): 'ACCESSIBLE' | 'INK_SCREEN_READER' | null {
  if (env['ACCESSIBLE'] && !OFF.has(env['ACCESSIBLE'])) return 'ACCESSIBLE';
  return env['INK_SCREEN_READER'] === 'true' ? 'INK_SCREEN_READER' : null; // as Ink reads it
}

/** Same check as Ink's (the package `is-in-ci`), which in CI draws nothing before the end. */
function isCi(env: Terminal['env']): boolean {
  return ['CI', 'CONTINUOUS_INTEGRATION'].some(name => !OFF.has(env[name]));
}

const OFF: ReadonlySet<string | undefined> = new Set([undefined, '0', 'false']);

/** Lets the commands in a message start as the user started this program, so that they can be pasted: npx names itself in the environment. */
export function withOwnCommand(text: string, env: Terminal['env']): string {
  if (env['npm_lifecycle_event'] !== 'npx') return text;
  return text.replaceAll(/(?<![\w@./-]|npx )protocol-cli(?= [a-z<])/g, 'npx protocol-cli');
}

/** Replaced at build time; undefined when run from source. */
declare const PROGRAM_VERSION: string | undefined;

/** Name and version for transcripts and requests: `protocol-cli/0.1.0`. */
export const VERSION = typeof PROGRAM_VERSION === 'string' ? PROGRAM_VERSION : 'source';

export const PROGRAM = `protocol-cli/${VERSION}`;

/** The exit statuses. Help is generated from this table; a test compares README and guides with it. */
export const EXIT_STATUSES = {
  0: 'success',
  1: 'a check or a verification failed',
  2: 'usage: a wrong option, file, operation or argument',
  3: 'incomplete: something is flaky or could not run, or nothing was checked',
  4: 'unreachable, no discovery document, or the acknowledgement was not 200',
  5: 'the outcome is error, denied, canceled, timeout or unknown',
  6: 'a decision is needed and no terminal is attached',
  7: 'no result in time',
  129: 'hung up (SIGHUP)',
  130: 'interrupted (SIGINT)',
  143: 'terminated (SIGTERM)',
} as const;

export type ExitStatus = keyof typeof EXIT_STATUSES;

const BY_FAILURE: Readonly<Record<FailureCode, ExitStatus>> = {
  usage: 2,
  'unreadable-file': 2,
  'unwritable-file': 2,
  'unknown-operation': 2,
  'invalid-arguments': 2,
  'invalid-toolset': 2,
  'invalid-fixtures': 2,
  'port-in-use': 2,
  'command-failed': 4,
  unreachable: 4,
  'no-discovery': 4,
  'refused-address': 4,
  'bad-acknowledgement': 4,
  'platform-refused': 4,
  'bad-answer': 4,
  'session-failed': 5,
  declined: 5,
  denied: 5,
  'decision-needed': 6,
  timeout: 7,
  interrupted: 130,
};

export const BY_SIGNAL = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

export function statusOfFailure(code: FailureCode): ExitStatus {
  return BY_FAILURE[code];
}

/**
 * An interruption by the user: the first signal ends the work in an orderly way, a second one immediately. An emergency does the same,
 * as far as there is time.
 */
export class Interruption {
  #status: ExitStatus | undefined;
  readonly #callbacks = new Set<() => void>();
  readonly #abort = new AbortController();
  readonly #stopListening = onSignals(signal => {
    if (this.#status === undefined) return this.#stopWith(BY_SIGNAL[signal]);
    if (signal === 'SIGHUP') return; // a closing terminal sends it more than once
    endByForce(signal);
  });
  readonly #forgetEmergency = onEmergency(() => {
    if (this.#status === undefined) this.#stopWith(1);
  });
  readonly #forgetCanceled: () => void;

  /** @param canceled interrupts as Ctrl-C would */
  constructor(canceled?: AbortSignal) {
    const cancel = () => {
      if (this.#status === undefined) this.#stopWith(BY_SIGNAL.SIGINT);
    };
    canceled?.addEventListener('abort', cancel, { once: true });
    this.#forgetCanceled = () => canceled?.removeEventListener('abort', cancel);
    if (canceled?.aborted) cancel();
  }

  /** Aborted by the first signal, or an emergency. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /** The exit status for the received signal, 1 for an emergency; undefined if there was none. */
  get status(): ExitStatus | undefined {
    return this.#status;
  }

  /** Calls back at the first signal, or immediately if it has already arrived. Returns how to stop listening. */
  onSignal(callback: () => void): () => void {
    this.#callbacks.add(callback);
    if (this.#status !== undefined) callback();
    return () => void this.#callbacks.delete(callback);
  }

  /** @throws ProtocolCliError `interrupted` if a signal arrives first. */
  race<T>(work: Promise<T>): Promise<T> {
    const interrupted = new Promise<never>((_, reject) => {
      this.onSignal(() =>
        reject(new ProtocolCliError('interrupted', 'interrupted before the tool was called')),
      );
    });
    return Promise.race([work, interrupted]);
  }

  release(): void {
    this.#stopListening();
    this.#forgetEmergency();
    this.#forgetCanceled();
  }

  #stopWith(status: ExitStatus): void {
    this.#status = status;
    for (const callback of this.#callbacks) callback();
    this.#abort.abort();
  }
}

/** Registers what to stop at the end. */
export type OnStop = (stop: () => Promise<void>) => void;

/** Asks the user on the terminal. Calls run concurrently, but the user gets one question at a time. */
export class Prompts {
  #before: Promise<unknown> = Promise.resolve();

  readonly terminal: Terminal;
  /** Aborted when the user interrupts. */
  readonly signal: AbortSignal;

  /** @param screen may draw on the terminal */
  constructor(
    private readonly run: {
      readonly terminal: Terminal;
      readonly signal: AbortSignal;
      /** Questions quote platforms and tools, which may repeat secrets (threats, row 25). */
      clean(text: string): string;
    },
    private readonly screen?: Pick<Reporter, 'lendTerminal'>,
  ) {
    this.terminal = run.terminal;
    this.signal = run.signal;
  }

  /** Runs `work` with the terminal while nothing else draws there. */
  lendTerminal<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#before.then(() => this.screen?.lendTerminal?.(work) ?? work());
    this.#before = done.catch(() => {});
    return done;
  }

  /** Whether the user can answer. */
  get canAsk(): boolean {
    const { stdin, stderr } = this.terminal;
    return stdin.isTTY === true && stderr.isTTY === true;
  }

  show(text: string): void {
    this.terminal.stderr.write(this.run.clean(text));
  }

  /**
   * Reads a line from the user; null if a signal or the end of input cancels the question. In readline's raw mode Ctrl-C is a key,
   * which is converted back to the signal.
   */
  async ask(question: string, over = this.signal): Promise<string | null> {
    const { stdin, stderr, env, interrupt } = this.terminal;
    if (stdin.readableEnded) return null; // no more input
    const { createInterface } = await import('node:readline/promises');
    // Without readline's editor nothing moves the cursor, and Ctrl-C is a signal.
    const editor = linesSetting(env) === null ? {} : { terminal: false };
    const reader = createInterface({ input: stdin, output: stderr, ...editor });
    reader.on('SIGINT', interrupt);
    try {
      return await reader.question(this.run.clean(question), {
        signal: AbortSignal.any([this.signal, over]),
      });
    } catch {
      this.show('\n');
      return null;
    } finally {
      reader.close();
    }
  }
}

export function colourOf(
  stream: NodeJS.WriteStream,
  { color }: { readonly color: boolean },
  { env }: Pick<Terminal, 'env'>,
): ColourLevel {
  const isTTY = stream.isTTY === true;
  const knowsDepth = isTTY && env['TERM'] === undefined; // Windows sets no TERM
  const depth = knowsDepth ? stream.getColorDepth?.({ ...env }) : undefined;
  return colourLevel({ env, isTTY, noColor: !color, ...(depth !== undefined && { depth }) });
}
