import { setMaxListeners } from 'node:events';
import { createLog, type Log } from '../events/log.js';
import { type EventRedactor, questionRedactor } from '../events/shareable.js';
import type { Observer } from '../events/transcript-reader.js';
import type { TranscriptAbout } from '../events/transcript-writer.js';
import type { HttpClient } from '../http/client.js';
import { createNodeClient } from '../http/node-client.js';
import type { Warning } from '../protocol/requirements.js';
import type { Tool } from '../protocol/toolset.js';
import type { Trouble } from '../render/outputs/trouble.js';
import { errorReport, troubleText, warningText, wrapMessages } from '../render/outputs/trouble.js';
import type { Wire } from '../runtime/wire.js';
import { type Clock, systemClock } from '../system/clock.js';
import { outputOf, type Sink, writeOut } from '../system/streams.js';
import { ProtocolCliError } from '../util/errors.js';
import { LIMITS } from '../util/limits.js';
import { createRedactor, type Redactor } from '../util/redact.js';
import { safeJson } from '../util/safe-json.js';
import { headerFor, saveTranscript } from './save-transcript.js';
import type { ConfiguredTarget } from './target.js';
import {
  type ExitStatus,
  Interruption,
  type OnStop,
  statusOfFailure,
  type Terminal,
  withOwnCommand,
} from './terminal.js';

export interface RunOptions {
  readonly terminal: Terminal;
  readonly clock?: Clock;
  /** Credentials of the user, which servers may repeat in messages (threats, row 25). */
  readonly secrets?: readonly string[];
  /** Adds the secrets found in events. */
  readonly redactorFor?: (credentials: Redactor) => EventRedactor;
  readonly observer?: Observer;
}

/** A running command: its log, secrets, messages and interruption, and what to stop at the end. */
export class Run {
  readonly terminal: Terminal;
  readonly clock: Clock;
  readonly log: Log;
  /** Redacts the credentials of the user. */
  readonly credentials: Redactor;
  /** Redacts the credentials and the secrets found in events so far. */
  readonly redactor: EventRedactor;
  /** Warnings that were printed. */
  readonly warnings: Warning[] = [];
  /** The header of its transcript. */
  readonly about: TranscriptAbout;
  readonly interrupted: Interruption;
  readonly signal: AbortSignal;
  readonly #stops: (() => Promise<void>)[] = [];
  #isOver = false;
  readonly #toolsets = new Map<ConfiguredTarget, readonly Tool[]>();
  #finishTranscript: (reason: string) => Promise<void> = async () => {};

  constructor({
    terminal,
    clock = systemClock,
    secrets = [],
    redactorFor = questionRedactor,
    observer = 'runtime',
  }: RunOptions) {
    this.terminal = terminal;
    this.interrupted = new Interruption(terminal.canceled);
    this.signal = this.interrupted.signal;
    this.clock = clock;
    this.about = headerFor(observer, clock);
    this.log = createLog(clock.now, clock.runnable);
    this.credentials = createRedactor(secrets);
    this.redactor = redactorFor(createRedactor(secrets));
    this.log.subscribe(event => this.redactor.learn(event));
    setMaxListeners(0, this.signal); // many calls may listen to it
  }

  /** Prints messages for people: redacted, and wrapped on a terminal. */
  readonly stderr = {
    write: (text: string): void => {
      const { stderr, env } = this.terminal;
      outputOf(stderr).write(wrapMessages(withOwnCommand(this.clean(text), env), stderr));
    },
  };

  /** Removes secrets from a message. */
  readonly clean = (text: string): string => this.redactor.text(text);

  /** Prints a warning, once. */
  warn({ id, message, details }: Warning): void {
    const warning = {
      ...(id && { id }),
      message: this.clean(message),
      ...(details && { details: details.map(this.clean) }),
    };
    if (this.warnings.some(each => each.message === warning.message)) return;
    this.warnings.push(warning);
    this.stderr.write(warningText(warning));
  }

  /** Prints an error. Returns its exit status. */
  fail(trouble: Trouble): ExitStatus {
    this.stderr.write(troubleText(trouble));
    return statusOfFailure(trouble.code);
  }

  /** Cancels a call if the user interrupts. Returns a function that stops listening. */
  cancelWhenInterrupted(key: string): () => void {
    return this.interrupted.onSignal(() =>
      this.log.emit({ kind: 'decided', what: 'cancel', by: 'person', calls: [key] }),
    );
  }

  /** What starts when the run is over already, since it was interrupted meanwhile, is stopped at once. */
  readonly onStop: OnStop = stop => {
    if (this.#isOver) void stop().catch(() => {});
    else this.#stops.push(stop);
  };

  /** Keeps the names of operations and arguments of a server for completion. */
  keepNames(target: ConfiguredTarget, tools: readonly Tool[]): void {
    this.#toolsets.set(target, tools);
  }

  /** As {@link keepNames}, of the toolset that the wire to this server loads. */
  keepNamesOf(wire: Wire, target: ConfiguredTarget): Wire {
    wire.onToolset = ({ tools }) => this.keepNames(target, tools);
    return wire;
  }

  /** Saves the names of the toolsets that were loaded. Never rejects: a file that cannot be written stays as it is. */
  async saveNames(): Promise<void> {
    if (this.#toolsets.size === 0 || this.signal.aborted) return;
    const { saveNames } = await import('./completion/known-names.js');
    await saveNames(this.#toolsets, this.terminal, name => this.clean(name) !== name).catch(() => {});
  }

  /** Opens a client for single calls, which loads fast. It is closed at the end. */
  readonly openClient = (): HttpClient => this.#closing(createNodeClient({ clock: this.clock }));

  /** Opens a client for many calls. It is closed at the end. */
  readonly openPooledClient = async (): Promise<HttpClient> =>
    this.#closing((await import('../http/pooled-client.js')).createPooledClient({ clock: this.clock }));

  #closing(client: HttpClient): HttpClient {
    this.onStop(() => client.close());
    return client;
  }

  /** Starts `--save`. @param onLine receives the line of each event, by its `seq` @throws ProtocolCliError `unwritable-file`, `usage` */
  async save(path: string | undefined, onLine?: (seq: number, line: number) => void): Promise<void> {
    const { log, redactor, about } = this;
    const onForcedEnd = this.stderr.write;
    const options = { onForcedEnd, ...(onLine && { onLine }) };
    this.#finishTranscript = await saveTranscript(log, path, redactor, about, options);
  }

  /** Registers the end of a transcript that {@link save} does not write. */
  onTranscriptEnd(finish: (reason: string) => Promise<void>): void {
    this.#finishTranscript = finish;
  }

  /** Returns the output of `-v`: stderr, or with a screen, stderr when the process exits. */
  verboseWriter(isDrawn: boolean): Sink {
    const { stderr } = this.terminal;
    if (!isDrawn) return outputOf(stderr).take;
    const later: string[] = [];
    let [size, lost] = [0, 0];
    process.once('exit', () => {
      if (lost > 0) later.push(`… ${lost} more messages were dropped\n`);
      stderr.write(later.join(''));
    });
    return async text => {
      if (size > LIMITS.outputChars.value) return void lost++;
      size += text.length;
      later.push(text);
    };
  }

  /** Stops what was started, in reverse order; an error does not prevent the other stops. More can be started afterwards. */
  async stopStarted(): Promise<void> {
    for (let stop = this.#stops.pop(); stop; stop = this.#stops.pop()) await stop().catch(() => {});
  }

  /** Ends the run. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await this.stopStarted();
    if (this.signal.aborted) this.terminal.stdin.destroy(); // stdin may still be read
    this.interrupted.release();
  }

  /** Ends the transcript, once. @throws ProtocolCliError `unwritable-file` */
  endTranscript(reason: string): Promise<void> {
    const finish = this.#finishTranscript;
    this.#finishTranscript = async () => {};
    return finish(reason);
  }

  /** Ends the transcript. Returns the given failure, or else that of the transcript. */
  async end(
    trouble: Trouble | null,
    reason: string = trouble?.code ?? 'done',
  ): Promise<{ readonly trouble: Trouble | null; readonly warnings: readonly Warning[] }> {
    const lost = await this.endTranscript(reason).then(() => null, asTrouble);
    if (!trouble || !lost) return { trouble: trouble ?? lost, warnings: [] };
    return { trouble, warnings: [{ message: lost.message }] };
  }
}

/**
 * Runs a command. However it ends, what it started is stopped; a signal determines the exit status.
 * @throws errors of the work, without secrets
 */
export async function withRun(
  options: RunOptions,
  work: (run: Run) => Promise<ExitStatus>,
): Promise<ExitStatus> {
  const run = new Run(options);
  const { interrupted } = run;
  try {
    const status = await work(run);
    return interrupted.status ?? status;
  } catch (error) {
    const status = interrupted.status;
    if (status !== undefined) return status;
    throw error instanceof ProtocolCliError ? error.mapText(run.clean) : error;
  } finally {
    await run.stop();
    await run.saveNames();
  }
}

/** Returns an error that can be reported. @throws any error that is not a ProtocolCliError */
export function asTrouble(error: unknown): ProtocolCliError {
  if (error instanceof ProtocolCliError) return error;
  throw error;
}

/** With `-o json`, prints an object even if the command fails early. @throws errors of the work */
export async function withErrorReport<T>(
  isJson: boolean,
  { stdout }: Pick<Terminal, 'stdout'>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isJson && error instanceof ProtocolCliError)
      await writeOut(stdout, `${safeJson({ warnings: [], error: errorReport(error) }, 2)}\n`);
    throw error;
  }
}
