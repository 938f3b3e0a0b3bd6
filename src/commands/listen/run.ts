import { History } from '../../events/history.js';
import type { Trouble } from '../../render/outputs/trouble.js';
import { warningText } from '../../render/outputs/trouble.js';
import { misdirected } from '../../render/warnings.js';
import { type CallIds, type OpenListener, startOpenListener } from '../../runtime/callback-server.js';
import { type Clock, systemClock } from '../../system/clock.js';
import { keepHeapTight } from '../../system/process.js';
import { isClosed } from '../../system/streams.js';
import { ProtocolCliError } from '../../util/errors.js';
import { formatDuration } from '../../util/text.js';
import { visibleLine } from '../../util/visible.js';
import { type ServerFlags, usage } from '../options.js';
import { BoundedLines, colourOf } from '../output.js';
import type { Run } from '../run.js';
import { networkWarnings, printReady, runServer, type Subscribe, streamTranscript } from '../run-server.js';
import type { ExitStatus, Terminal } from '../terminal.js';
import { callbackWarnings, FORMATS, type HeardCallback, heardIn } from './formats.js';

/** The options of `listen`, as commander hands them over. */
interface ListenFlags extends ServerFlags {
  readonly callbackUrl?: string;
  readonly maxBody: number;
  readonly expect?: readonly CallIds[];
  readonly groupId?: string;
  readonly id?: string;
  /** Results after which it stops; undefined: never. */
  readonly count?: number;
  /** Milliseconds; 0 listens forever. */
  readonly timeout: number;
  readonly supports: ReadonlySet<string>;
  readonly output: keyof typeof FORMATS | 'ndjson';
  readonly save?: string;
}

/** Runs `listen`; to be stopped is its normal end. @throws ProtocolCliError `usage`, `port-in-use`, `unwritable-file` */
export async function runListen(
  flags: ListenFlags,
  terminal: Terminal,
  clock: Clock = systemClock,
): Promise<number> {
  const expected = [...(flags.expect ?? []), ...expectedPair(flags)];
  checkCount(flags, expected.length);
  keepHeapTight();
  return runServer({ terminal, clock }, async (run, onClose) => {
    const history = new History();
    run.log.subscribe(event => history.apply(event));
    const { host, port, callbackUrl: publicUrl, allowHost: allowedHosts = [], maxBody, output, save } = flags;
    const keepBodies = output === 'ndjson' || save !== undefined;
    const address = { host, port, allowedHosts, maxBody, keepBodies };
    const listener = await startOpenListener(run.log, history, {
      ...address,
      ...(publicUrl !== undefined && { publicUrl }),
    });
    run.redactor.add(listener.token);
    const listening = new Listening(flags, listener, run, history);
    onClose(() => listening.close());
    await run.save(save);
    return { quit: listening.start(expected), verify: async () => listening.report() };
  });
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

function checkCount({ count }: ListenFlags, expected: number): void {
  if (count === 0)
    throw usage('--count must be at least 1', 'Without --count, listen runs until it is stopped.');
  if (count !== undefined && expected > 0 && count > expected)
    throw usage(
      `--count ${count}: only ${expected} results are expected`,
      'Each expected call has one result.',
    );
}

/** Prints what arrives until enough came, the time is over, or the output has no reader. */
class Listening {
  /** Why it ended; the name of an error for the transcript. */
  #reason: 'done' | 'timeout' | 'unwritable-file' | 'failed' = 'failed';
  #trouble: Trouble | null = null;
  #endOutput: (reason: string) => void = () => {};
  readonly #stops: (() => void)[] = [];

  constructor(
    private readonly flags: ListenFlags,
    private readonly listener: OpenListener,
    private readonly run: Run,
    private readonly history: History,
  ) {}

  /** Resolves when it is over. */
  start(expected: readonly CallIds[]): Promise<void> {
    const { listener, history } = this;
    this.#printReady();
    this.#startOutput();
    const over = this.#untilOver();
    history.keepRecent(listener.calls.expected);
    for (const ids of expected) listener.calls.expect(ids); // last: every subscriber must get the event
    this.#reason = 'done';
    return over;
  }

  async close(): Promise<void> {
    for (const stop of this.#stops) stop();
    if (this.#reason === 'timeout') this.#trouble = this.#shortfall();
    await this.listener.close();
    const reason = this.#reason === 'timeout' ? (this.#trouble?.code ?? 'done') : this.#reason;
    await new Promise<void>(afterAnswer);
    if (this.#reason !== 'unwritable-file') this.#endOutput(reason);
    await this.run.endTranscript(reason);
  }

  /** Prints what was missing. Returns the exit status. */
  report(): ExitStatus {
    const { untracked } = this.history;
    const lost = [...untracked.values()].filter(({ refusal }) => refusal === 'wrong-address');
    if (!this.flags.quiet)
      for (const warning of misdirected(lost, untracked.misdirected)) this.run.warn(warning);
    return this.#trouble ? this.run.fail(this.#trouble) : 0;
  }

  #printReady(): void {
    const { flags, run } = this;
    const { stdout, stderr } = run.terminal;
    const { port, url, callbackUrl: callback_url } = this.listener;
    const text = `listening at ${url}, give tools this callback_url:\n${callback_url}`;
    const stream = flags.output === 'plain' ? stdout : stderr;
    printReady({ port, url, callback_url }, text, run.terminal, { stream });
    if (!flags.quiet) for (const message of networkWarnings(flags)) run.warn({ message });
  }

  /** Prints in the chosen format; what the user must see at once, and warnings, go to stderr. */
  #startOutput(): void {
    const { flags, run, listener } = this;
    const { terminal, redactor, about, log } = run;
    const { stdout, stderr } = terminal;
    const { output, supports } = flags;
    const isTTY = stdout.isTTY === true;
    if (output === 'ndjson') {
      const later: Subscribe = listen => log.subscribe(event => afterAnswer(() => listen(event)));
      this.#endOutput = streamTranscript(later, stdout, redactor, about);
    }
    const level = colourOf(stdout, flags, terminal);
    const width = isTTY ? stdout.columns : undefined;
    const options = { supports, redactor, about, isTTY, level, width, callbackUrl: listener.callbackUrl };
    const format = output === 'ndjson' ? null : FORMATS[output](options);
    const lines = new BoundedLines(stdout, count => (format ? [format.lost(count)] : []));
    log.subscribe(event => {
      const heard = heardIn(this.history, listener.calls.expected, event);
      if (!heard) return;
      afterAnswer(() => {
        if (format) lines.write(() => format.lines(heard));
        if (heard.kind === 'callback') stderr.write(asideText(heard, flags, isTTY));
      });
    });
  }

  /** Rejects if the output cannot be written, as on a full disk. */
  #untilOver(): Promise<void> {
    const { run, flags } = this;
    const { stdout } = run.terminal;
    return new Promise((resolve, reject) => {
      let left = flags.count ?? Number.POSITIVE_INFINITY;
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
        run.log.subscribe(event => {
          const heard = heardIn(this.history, this.listener.calls.expected, event);
          if (heard?.kind === 'callback' && heard.arrival.verdict.kind === 'settles' && --left === 0)
            resolve();
        }),
        flags.timeout > 0 ? run.clock.after(flags.timeout, onTimeout) : () => {},
      );
    });
  }

  /** What did not come in time, which is an event (RT-TIMEOUT); null if nothing was expected. */
  #shortfall(): Trouble | null {
    const { flags, listener, history, run } = this;
    const { timeout: afterMs, count } = flags;
    const pending = [...listener.calls.expected].flatMap(key => {
      const exchange = history.exchanges.get(key);
      return exchange && !exchange.settled ? [exchange] : [];
    });
    run.log.emit({ kind: 'expired', what: 'timeout', afterMs, calls: pending.map(({ key }) => key) });
    if (pending.length === 0 && count === undefined) return null;
    const faults = pending.map(({ invocation }) => `group_id ${invocation.group_id}, id ${invocation.id}`);
    const missing = faults.length > 0 ? 'without the expected results' : `with fewer than ${count} results`;
    return {
      code: 'timeout',
      message: `timed out after ${formatDuration(afterMs)} ${missing}`,
      hint: `Check that tools use the callback_url of ${listener.url}; --timeout allows more time.`,
      faults,
    };
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
