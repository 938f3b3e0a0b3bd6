import type { Event } from '../events/events.js';
import { streamTranscript, type TranscriptAbout } from '../events/transcript-writer.js';
import { isWildcard } from '../http/guard.js';
import {
  type CommandResult,
  VERIFICATION_FORMATS,
  type Verified,
  type VerifiedRun,
} from '../render/outputs/verification.js';
import type { ColourLevel } from '../render/terminal/colour-level.js';
import { runAttached } from '../system/run-attached.js';
import { outputOf, writeOut } from '../system/streams.js';
import type { ListScreen } from '../tui/list-screen.js';
import { ProtocolCliError } from '../util/errors.js';
import type { Redactor } from '../util/redact.js';
import { elapsedMs } from '../util/text.js';
import { visible } from '../util/visible.js';
import type { Subscribe } from './event-output.js';
import { type ServerOutput, usageError } from './options.js';
import { type ReportRequest, writeReports } from './reports.js';
import { Run, type RunOptions } from './run.js';
import { canDraw, colourOf, type ExitStatus, PROGRAM, type Terminal } from './terminal.js';

interface ServerRequest {
  /** `-o`. */
  readonly output?: ServerOutput | undefined;
  /** Whether a screen may be the default. */
  readonly prefersScreen: boolean;
  /** What to use instead of `-o ndjson` with a command. */
  readonly ndjsonHint: string;
  /** An example of a command line with a command. */
  readonly example: string;
}

/** The command line of a server. */
export interface ServerLine {
  readonly files: readonly string[];
  readonly command: readonly string[] | null;
  readonly output: ServerOutput;
}

/** Splits `<files> -- <command>`, and selects the output. @throws ProtocolCliError `usage` */
export function readServerLine(
  words: readonly string[],
  { output, prefersScreen, ndjsonHint, example }: ServerRequest,
  terminal: Terminal,
): ServerLine {
  const { afterDashes: command } = terminal;
  if (command?.length === 0) throw usageError('no command after --', `For example: ${example}`);
  const canShowScreen = command === null && canDraw(terminal);
  if (output === 'ui' && !canShowScreen)
    throw usageError(
      '-o ui needs a terminal of at least 40×8 that no command uses, outside CI',
      'Use -o plain.',
    );
  if (output === 'ndjson' && command !== null)
    throw usageError('-o ndjson and the command would both write to stdout', ndjsonHint);
  const files = command ? words.slice(0, words.length - command.length) : words;
  const chosen: ServerOutput = output ?? (canShowScreen && prefersScreen ? 'ui' : 'plain');
  return { files, command, output: chosen };
}

/** Prints the server's address: a line of JSON on stdout for programs, a text for people. */
export function printReady(
  ready: object,
  text: string,
  { stdout, stderr }: Pick<Terminal, 'stdout' | 'stderr'>,
  {
    command = null,
    stream = stderr,
  }: { command?: readonly string[] | null; stream?: NodeJS.WriteStream } = {},
): void {
  if (stdout.isTTY !== true && command === null) stdout.write(`${JSON.stringify(ready)}\n`);
  else stream.write(`${text}\n`);
}

/** Returns a warning if the server is open to the network (threats, row 5). */
export function networkWarnings({ host }: { readonly host: string }): string[] {
  return isWildcard(host) ? [`the server is open to the network (--host ${host})`] : [];
}

/** Shows the events of a server while it runs. */
export interface LiveOutput {
  /** Shows a message about the server itself. */
  notice(text: string, isBad?: boolean): void;
  warn(texts: readonly string[]): void;
  /** Resolves when the user quits; never resolves without a screen. */
  readonly quit: Promise<void>;
  close(): Promise<void>;
}

/** Creates the printer of lines for people. */
export type LinePrinter = (stream: NodeJS.WriteStream, level: ColourLevel) => (event: Event) => void;

interface LineOptions {
  readonly output: ServerOutput;
  readonly flags: { readonly color: boolean; readonly quiet?: boolean };
  readonly command?: readonly string[] | null;
  readonly subscribe: Subscribe;
  readonly redactor: Redactor;
  readonly about: TranscriptAbout;
  readonly printer: LinePrinter;
}

/** Prints lines for people, or every event as JSON. Lines go to stdout if it is a terminal and no command runs. */
export function startLines(
  { output, flags, command = null, subscribe, redactor, about, printer }: LineOptions,
  terminal: Terminal,
): LiveOutput {
  const { stdout, stderr } = terminal;
  const stream = stdout.isTTY === true && command === null ? stdout : stderr;
  let end: (reason: string) => unknown = () => {};
  if (output === 'ndjson') {
    const bounded = outputOf(stdout);
    bounded.onError = error => void Promise.reject(error); // ends the server
    const transcript = streamTranscript(bounded, redactor, about);
    subscribe(transcript.event);
    end = reason => {
      transcript.end(reason);
      return bounded.written();
    };
  } else if (!flags.quiet) end = subscribe(printer(stream, colourOf(stream, flags, terminal)));
  const notice = (text: string, isBad = false) =>
    void stderr.write(`${isBad ? 'warning: ' : ''}${visible(text)}\n`);
  return {
    notice,
    warn: texts => {
      for (const text of texts) notice(text, true);
    },
    quit: new Promise(() => {}),
    close: async () => void (await end('done')),
  };
}

interface ServerScreen {
  readonly view: Pick<ListScreen, 'notice'> & { readonly summary: string };
  close(): Promise<void>;
}

/** @param open draws the screen; its quit key calls `onQuit` */
export function startScreen(
  open: (onQuit: () => void) => ServerScreen,
  { stderr }: Pick<Terminal, 'stderr'>,
): LiveOutput {
  let onQuit = () => {};
  const quit = new Promise<void>(resolve => {
    onQuit = resolve;
  });
  const { view, close } = open(() => onQuit());
  return {
    quit,
    notice: (text, isBad) => view.notice(text, isBad),
    warn: texts => {
      if (texts.length > 0) view.notice(texts.join('\n'), true);
    },
    async close() {
      await close();
      stderr.write(`${view.summary}\n`); // the screen is closed, so print its summary
    },
  };
}

/** Registers something to close at the end, in this order. */
type OnClose = (close: () => Promise<void>) => void;

/** A started server that has printed its address. */
interface Running {
  /** Environment of the command. */
  readonly env?: Readonly<Record<string, string>>;
  /** Resolves when the server is to stop without a signal; rejects with an error that ends it. */
  readonly quit: Promise<unknown>;
  /** Called after the server is closed; writes the verification. */
  verify?(run: VerifiedRun): Promise<ExitStatus>;
}

interface ServerOptions extends RunOptions {
  /** To run beside the server; without it, the server runs until it is stopped. */
  readonly command?: readonly string[] | null;
}

/**
 * Runs the server until the command ends, a signal arrives, or the user quits; then closes everything, verifies, and ends the
 * transcript. Returns the exit status of the command if it failed, otherwise that of the verification.
 */
export async function runServer(
  { command = null, ...options }: ServerOptions,
  start: (run: Run, onClose: OnClose) => Promise<Running>,
): Promise<number> {
  const run = new Run(options);
  const closing: (() => Promise<void>)[] = [];
  const close = async () => {
    for (let next = closing.shift(); next; next = closing.shift()) await next();
  };
  let reason = 'done';
  const startedAt = run.clock.now();
  try {
    const running = await start(run, each => closing.push(each));
    const ended = await runOrWait(command, running, run);
    await close();
    const ms = elapsedMs(run.clock.now(), startedAt);
    const verified = (await running.verify?.({ program: PROGRAM, command: ended, ms })) ?? 0;
    return ended?.status || verified;
  } catch (error) {
    reason = error instanceof ProtocolCliError ? error.code : 'failed';
    throw error;
  } finally {
    await close().finally(() => run.stop());
    await run.endTranscript(reason);
  }
}

/** A signal is a normal end of the server; a command whose start was interrupted is not run. */
async function runOrWait(
  command: readonly string[] | null,
  { env = {}, quit }: Running,
  { interrupted, clock }: Run,
): Promise<CommandResult | null> {
  if (command) {
    const startedAt = clock.now();
    const status = interrupted.status ?? (await runAttached(command, env));
    return { status, ms: elapsedMs(clock.now(), startedAt) };
  }
  await Promise.race([new Promise<void>(resolve => interrupted.onSignal(resolve)), quit]);
  return null;
}

interface VerificationRequest {
  readonly reporter: readonly ReportRequest[];
  /** What else writes to stdout. */
  readonly stdoutUser: string | null;
  readonly flags: { readonly quiet?: boolean; readonly color: boolean };
}

/** Writes the reports of a verification, and a text on stderr unless stdout has it. Returns the exit status. */
export async function writeVerification(
  verified: Verified,
  { reporter, stdoutUser, flags }: VerificationRequest,
  terminal: Terminal,
): Promise<ExitStatus> {
  const isOnStdout = reporter.some(({ format, file }) => format === 'human' && file === null);
  const text = VERIFICATION_FORMATS.human(verified, { level: 0, isQuiet: flags.quiet === true });
  if (!isOnStdout) await writeOut(terminal.stderr, text);
  const options = { reporters: VERIFICATION_FORMATS, command: verified.subject, flags, stdoutUser };
  const status = await writeReports(reporter, verified, options, terminal);
  return verified.ok ? status : 1;
}

export function subscribeToAll(source: {
  readonly events: Iterable<Event>;
  readonly subscribe: Subscribe;
}): Subscribe {
  return listener => {
    for (const event of source.events) listener(event);
    return source.subscribe(listener);
  };
}
