import type { Event } from '../../events/events.js';
import { History } from '../../events/history.js';
import type { Trouble } from '../../render/outputs/reporter.js';
import { troubleText, warningText } from '../../render/outputs/trouble.js';
import { misdirected } from '../../render/warnings.js';
import {
  type CallIds,
  type ListenerOptions,
  type OpenListener,
  startOpenListener,
} from '../../runtime/callback-server.js';
import { type Clock, systemClock } from '../../system/clock.js';
import { keepHeapTight } from '../../system/process.js';
import { isClosed } from '../../system/streams.js';
import { ProtocolCliError } from '../../util/errors.js';
import { formatDuration } from '../../util/text.js';
import { visibleLine } from '../../util/visible.js';
import { type ServerFlags, usage } from '../options.js';
import { BoundedLines, colourOf } from '../output.js';
import type { Run } from '../run.js';
import { networkWarnings, printReady, runServer } from '../run-server.js';
import { type ExitStatus, statusOfFailure, type Terminal } from '../terminal.js';
import { BoundedHistory } from './bounded-history.js';
import {
  callbackWarnings,
  type HeardCallback,
  heardIn,
  jsonFormat,
  ndjsonFormat,
  plainFormat,
} from './formats.js';

const FORMATS = { plain: plainFormat, json: jsonFormat, ndjson: ndjsonFormat };

/** The options of `listen`, as commander hands them over. */
export interface ListenFlags extends ServerFlags {
  readonly callbackUrl?: string;
  readonly maxBody: number;
  readonly expect?: readonly CallIds[];
  readonly groupId?: string;
  readonly id?: string;
  readonly count?: number;
  /** Milliseconds; 0 listens forever. */
  readonly timeout: number;
  readonly supports: ReadonlySet<string>;
  readonly output: keyof typeof FORMATS;
  readonly save?: string;
}

interface ListenPlan {
  readonly flags: ListenFlags;
  readonly listener: ListenerOptions;
  /** The only calls that count; none: all that come. */
  readonly expected: readonly CallIds[];
  /** Results after which it stops; null: never. */
  readonly count: number | null;
}

/** @throws ProtocolCliError `usage`. */
function planListen(flags: ListenFlags): ListenPlan {
  const { count = null, host, port, callbackUrl: publicUrl, allowHost = [], maxBody, output, save } = flags;
  const expected = [...(flags.expect ?? []), ...expectedPair(flags)];
  if (count === 0)
    throw usage('--count must be at least 1', 'Without --count, listen runs until it is stopped.');
  if (count !== null && expected.length > 0 && count > expected.length)
    throw usage(
      `--count ${count}: only ${expected.length} results are expected`,
      'Each expected call has one result.',
    );
  const keepBodies = output === 'ndjson' || save !== undefined;
  const listener = { host, port, allowedHosts: allowHost, maxBody, keepBodies };
  return {
    ...{ flags, expected, count },
    listener: { ...listener, ...(publicUrl !== undefined && { publicUrl }) },
  };
}

/** `--group-id` and `--id`: as `--expect`, for ids with a slash. */
function expectedPair({ groupId, id }: ListenFlags): CallIds[] {
  if (groupId === undefined && id === undefined) return [];
  if (groupId && id) return [{ groupId, id }];
  throw usage(
    '--group-id and --id need each other and cannot be empty',
    'Both identify a call. Without them, all callbacks are shown.',
  );
}

/** `listen`, from the flags to the exit status: to be stopped is its normal end. */
export async function runListen(
  flags: ListenFlags,
  terminal: Terminal,
  clock: Clock = systemClock,
): Promise<number> {
  const plan = planListen(flags);
  keepHeapTight();
  return runServer({ terminal, clock }, async (run, onClose) => {
    const history = new History();
    run.log.subscribe(event => history.apply(event));
    const listener = await startOpenListener(run.log, history, plan.listener);
    run.redactor.add(listener.token);
    const listening = new Listening(plan, listener, run, history);
    onClose(() => listening.close());
    const { over } = await listening.start();
    return { quit: over, verify: async () => listening.report() };
  });
}

/** Prints what arrives until enough came, the time is over, or the output has no reader. */
class Listening {
  /** Why it ended; the name of an error for the transcript. */
  #reason: 'done' | 'timeout' | 'unwritable-file' | 'failed' = 'failed';
  #trouble: Trouble | null = null;
  #endOutput: (reason: string) => Promise<void> = async () => {};
  readonly #stops: (() => void)[] = [];

  constructor(
    private readonly plan: ListenPlan,
    private readonly listener: OpenListener,
    private readonly run: Run,
    private readonly history: History,
  ) {}

  /** Resolves once it listens, to a promise that resolves when it is over. */
  async start(): Promise<{ readonly over: Promise<void> }> {
    const { listener, plan, run } = this;
    const { log } = run;
    await run.save(plan.flags.save);
    this.#printReady();
    this.#startOutput();
    const over = this.#untilOver();
    const bounded = new BoundedHistory(this.history, listener.calls.expected);
    log.subscribe(event => bounded.apply(event));
    for (const ids of plan.expected) listener.calls.expect(ids); // last: every subscriber must get the event
    this.#reason = 'done';
    return { over };
  }

  async close(): Promise<void> {
    for (const stop of this.#stops) stop();
    if (this.#reason === 'timeout') this.#trouble = this.#shortfall();
    await this.listener.close();
    const reason = this.#reason === 'timeout' ? (this.#trouble?.code ?? 'done') : this.#reason;
    if (this.#reason !== 'unwritable-file') await this.#endOutput(reason);
    await this.run.endTranscript(reason);
  }

  /** Prints what was missing. Returns the exit status. */
  report(): ExitStatus {
    const { stderr } = this.run.terminal;
    if (!this.plan.flags.quiet) {
      const { untracked } = this.history;
      const lost = [...untracked.values()].filter(({ refusal }) => refusal === 'wrong-address');
      for (const warning of misdirected(lost, untracked.misdirected)) stderr.write(warningText(warning));
    }
    if (!this.#trouble) return 0;
    stderr.write(troubleText(this.#trouble));
    return statusOfFailure(this.#trouble.code);
  }

  #printReady(): void {
    const { flags } = this.plan;
    const { stdout, stderr } = this.run.terminal;
    const { port, url, callbackUrl: callback_url } = this.listener;
    const text = `listening at ${url}, give tools this callback_url:\n${callback_url}`;
    const stream = flags.output === 'plain' ? stdout : stderr;
    printReady({ port, url, callback_url }, text, this.run.terminal, { stream });
    if (!flags.quiet) for (const message of networkWarnings(flags)) stderr.write(warningText({ message }));
  }

  /** Prints in the chosen format; what the user must see at once, and warnings, go to stderr. */
  #startOutput(): void {
    const { terminal, redactor, about } = this.run;
    const { stdout, stderr } = terminal;
    const { flags } = this.plan;
    const isTTY = stdout.isTTY === true;
    const format = FORMATS[flags.output]({
      ...{ supports: flags.supports, redactor, about, isTTY },
      callbackUrl: this.listener.callbackUrl,
      level: colourOf(stdout, flags, terminal),
      width: isTTY ? stdout.columns : undefined,
    });
    let latest: Event | undefined;
    const lines = new BoundedLines(stdout, count => (latest ? format.lost(count, latest) : []));
    lines.end(() => format.begin);
    this.run.log.subscribe(event => {
      const heard = this.#heardIn(event);
      latest = event;
      afterAnswer(() => {
        if (heard || format.isWhole) lines.write(() => format.lines(event, heard));
        if (heard?.kind === 'callback') stderr.write(asideText(heard, flags, isTTY));
      });
    });
    this.#endOutput = async reason => {
      await new Promise<void>(afterAnswer);
      lines.end(() => format.end(reason));
    };
  }

  #heardIn(event: Event) {
    return heardIn(this.history, this.listener.calls.expected, event);
  }

  /** Rejects if the output cannot be written, as on a full disk. */
  #untilOver(): Promise<void> {
    const { stdout } = this.run.terminal;
    const { count, flags } = this.plan;
    return new Promise((resolve, reject) => {
      let results = 0;
      const onTimeout = () => {
        this.#reason = 'timeout';
        resolve();
      };
      const onError = (error: Error) => {
        if (isClosed(stdout)) return resolve(); // the reader is gone
        this.#reason = 'unwritable-file';
        const message = `cannot write the output: ${error.message}`;
        reject(new ProtocolCliError('unwritable-file', message, { cause: error }));
      };
      stdout.on('error', onError);
      this.#stops.push(
        () => void stdout.off('error', onError),
        this.run.log.subscribe(event => {
          const heard = count === null ? null : this.#heardIn(event);
          if (heard?.kind === 'callback' && heard.arrival.verdict.kind === 'settles') results++;
          if (count !== null && results >= count) resolve();
        }),
        flags.timeout > 0 ? this.run.clock.after(flags.timeout, onTimeout) : () => {},
      );
    });
  }

  /** What did not come in time, which is an event (RT-TIMEOUT); null if nothing was expected. */
  #shortfall(): Trouble | null {
    const { timeout: afterMs } = this.plan.flags;
    const pending = [...this.listener.calls.expected].flatMap(key => {
      const exchange = this.history.exchanges.get(key);
      return exchange && !exchange.settled ? [exchange] : [];
    });
    this.run.log.emit({ kind: 'expired', what: 'timeout', afterMs, calls: pending.map(({ key }) => key) });
    const within = `timed out after ${formatDuration(afterMs)}`;
    const hint = `Check that tools use the callback_url of ${this.listener.url}; --timeout allows more time.`;
    const faults = pending.map(({ invocation }) => `group_id ${invocation.group_id}, id ${invocation.id}`);
    if (faults.length > 0)
      return { code: 'timeout', message: `${within} without the expected results`, faults, hint };
    if (this.plan.count === null) return null;
    return { code: 'timeout', message: `${within} with fewer than ${this.plan.count} results`, hint };
  }
}

/** Runs `work` two turns later, in the order of the calls: an answer leaves one turn after its event, and drawing may take seconds. */
function afterAnswer(work: () => void): void {
  setImmediate(() => setImmediate(work));
}

function asideText(heard: HeardCallback, { output, quiet, supports }: ListenFlags, isTTY: boolean): string {
  const isPrinted = output === 'json' || quiet === true;
  const warnings = isPrinted ? [] : callbackWarnings(heard, supports).map(warningText);
  return [...(output === 'plain' && isTTY ? [] : [consentText(heard)]), ...warnings].join('');
}

/** The whole URL, which is nowhere else: it is for the user (RT-OAUTH). */
function consentText({ arrival: { message, verdict } }: HeardCallback): string {
  if (message?.type !== 'oauth' || verdict.kind !== 'holds') return '';
  return `visit this URL to continue: ${visibleLine(message.auth_url)}\n`;
}
