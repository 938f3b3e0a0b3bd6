import type { Outcome } from '../protocol/outcome.js';
import type { FailureCode } from '../render/failure.js';
import { endByForce, onEmergency, onSignals } from '../system/process.js';
import { isLargeEnough } from '../tui/terminal.js';
import { ProtocolCliError } from '../util/errors.js';

/** What a command knows of the world around it; a test gives it another one. */
export interface Terminal {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The words after `--`; null without `--`. */
  readonly afterDashes: readonly string[] | null;
  readonly cwd: string;
  readonly home: string;
  /** User code runs from now on (threats, row 29): at the end, the program exits without waiting for it. */
  readonly hostsCode: () => void;
  /** Long computations on foreign data are to be expected: a signal must end this process in the midst of one, too. */
  readonly computes?: () => void;
  /** What Ctrl-C does, where it is read as a key: in raw mode the terminal makes no signal of it. */
  readonly interrupt: () => void;
}

export const OUTPUTS = ['ui', 'text', 'plain', 'json', 'ndjson'] as const;

export type Output = (typeof OUTPUTS)[number];

/** Whether a screen can be drawn: it needs a terminal on both ends, room, and no CI. */
export function canDraw({ stdin, stdout, env }: Pick<Terminal, 'stdin' | 'stdout' | 'env'>): boolean {
  const isBothWays = stdin.isTTY === true && stdout.isTTY === true && env['TERM'] !== 'dumb';
  return isBothWays && !isCi(env) && isLargeEnough(stdout);
}

/** The same decision as Ink's (the package `is-in-ci`), which in CI draws nothing before the end. */
function isCi(env: Terminal['env']): boolean {
  return ['CI', 'CONTINUOUS_INTEGRATION'].some(name => !NOT_CI.has(env[name]));
}

const NOT_CI: ReadonlySet<string | undefined> = new Set([undefined, '0', 'false']);

/** The live view where it can be drawn, its story in lines on any other terminal, and in a pipe what the LLM gets. */
export function defaultOutput(terminal: Terminal): Output {
  if (canDraw(terminal)) return 'ui';
  return terminal.stdout.isTTY === true ? 'plain' : 'text';
}

/** Narrower widths are not real. */
const NARROWEST = 20;

/** Columns of a terminal; undefined elsewhere: lines are not wrapped. */
export function columnsOf({ isTTY, columns }: NodeJS.WriteStream): number | undefined {
  return isTTY && columns >= NARROWEST ? columns : undefined;
}

/** Replaced at build time; from source it is the version of no release. */
declare const PROGRAM_VERSION: string | undefined;

/** Who wrote a transcript or sends a request: `protocol-cli/0.1.0`. */
export const VERSION = typeof PROGRAM_VERSION === 'string' ? PROGRAM_VERSION : 'source';

export const PROGRAM = `protocol-cli/${VERSION}`;

/** The exit statuses. Help is generated from this table; a test compares README and guides with it. */
export const EXIT_STATUSES = {
  0: 'success',
  1: 'a check or a verification failed',
  2: 'usage: a wrong option, file, operation or argument',
  3: 'incomplete: nothing could be checked, or a prerequisite is missing',
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

const BY_SIGNAL = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

export function statusOfFailure(code: FailureCode): ExitStatus {
  return BY_FAILURE[code];
}

export function statusOfOutcome(type: Outcome['type']): ExitStatus {
  return type === 'success' ? 0 : 5;
}

/**
 * A person's wish to stop, as a value: the first signal ends the work in good order, a second one at once. So does an emergency, as far as
 * there is time.
 */
interface Interruption {
  /** @throws ProtocolCliError `interrupted` where a signal comes first. */
  race<T>(work: Promise<T>): Promise<T>;
  /** Aborted by the first signal, or an emergency. */
  readonly signal: AbortSignal;
  /** Calls back at the first signal; at once where it has come. Returns how to stop listening. */
  onSignal(callback: () => void): () => void;
  /** The exit status of the signal that came, 1 of an emergency; undefined where none did. */
  signalStatus(): ExitStatus | undefined;
  release(): void;
}

export function interruption(): Interruption {
  const callbacks = new Set<() => void>();
  const abort = new AbortController();
  let status: ExitStatus | undefined;
  const stopWith = (own: ExitStatus) => {
    status = own;
    for (const callback of callbacks) callback();
    abort.abort();
  };
  const stopListening = onSignals(signal => {
    if (status === undefined) return stopWith(BY_SIGNAL[signal]);
    if (signal === 'SIGHUP') return; // a closing terminal sends it more than once
    release();
    endByForce(signal);
  });
  const forgetEmergency = onEmergency(() => {
    if (status === undefined) stopWith(1);
  });
  const release = () => {
    stopListening();
    forgetEmergency();
  };
  const onSignal = (callback: () => void) => {
    callbacks.add(callback);
    if (status !== undefined) callback();
    return () => void callbacks.delete(callback);
  };
  return {
    signal: abort.signal,
    onSignal,
    release,
    signalStatus: () => status,
    race: work => {
      const interrupted = new Promise<never>((_, reject) => {
        onSignal(() => reject(new ProtocolCliError('interrupted', 'interrupted before the tool was called')));
      });
      return Promise.race([work, interrupted]);
    },
  };
}

/** Takes what has to be stopped at the end. */
export type OnStop = (stop: () => Promise<void>) => void;

/** Whether the user can answer questions. */
export function isSomebodyThere({ stdin, stderr }: Terminal): boolean {
  return stdin.isTTY === true && stderr.isTTY === true;
}

/**
 * One line from the person at the terminal; null where the question was taken back by a signal or by the end of input.
 * In readline's raw mode Ctrl-C is a key: it becomes the signal again.
 */
export async function ask(
  question: string,
  { stdin, stderr, interrupt }: Terminal,
  signal: AbortSignal,
): Promise<string | null> {
  if (stdin.readableEnded) return null; // no more input
  const { createInterface } = await import('node:readline/promises');
  const reader = createInterface({ input: stdin, output: stderr });
  reader.on('SIGINT', interrupt);
  try {
    return await reader.question(question, { signal });
  } catch {
    stderr.write('\n');
    return null;
  } finally {
    reader.close();
  }
}
