import type { Event } from '../../events/events.js';
import { type Arrival, type Exchange, outcomeOf } from '../../events/exchange.js';
import { idOf } from '../../events/fold-exchange.js';
import { History, type UntrackedRequest, type View } from '../../events/history.js';
import { shareableArrival, shareableMessage } from '../../events/shareable.js';
import type { TranscriptAbout } from '../../events/transcript-writer.js';
import type { Callback } from '../../protocol/callbacks.js';
import { llmText } from '../../protocol/outcome.js';
import type { Warning } from '../../protocol/requirements.js';
import { arrivalWarnings } from '../../render/callbacks.js';
import { clipped, elapsed, type Line, line, marked, say } from '../../render/line.js';
import { displayReport } from '../../render/outputs/call-report.js';
import { type Trouble, warningText } from '../../render/outputs/trouble.js';
import { panesOf, viewPane, wholePane } from '../../render/panes.js';
import { arrivalStep, stepLine, strayWords } from '../../render/steps.js';
import type { ColourLevel } from '../../render/terminal/colour-level.js';
import { createTheme, dressLine, type Theme, wrapLine } from '../../render/terminal/theme.js';
import { misdirected } from '../../render/warnings.js';
import { type CallIds, type OpenListener, startOpenListener } from '../../runtime/callback-server.js';
import { type Clock, systemClock } from '../../system/clock.js';
import { keepHeapTight } from '../../system/process.js';
import { isClosed } from '../../system/streams.js';
import { ProtocolCliError } from '../../util/errors.js';
import { type OutputLine, type Redactor, safeJsonLine } from '../../util/redact.js';
import { formatDuration } from '../../util/text.js';
import { visibleLine } from '../../util/visible.js';
import { BoundedLines, type Subscribe, streamTranscript } from '../event-output.js';
import { type ServerFlags, usage } from '../options.js';
import type { Run } from '../run.js';
import { networkWarnings, printReady, runServer } from '../run-server.js';
import { colourOf, type ExitStatus, type Terminal } from '../terminal.js';

interface ListenFlags extends ServerFlags {
  readonly callbackUrl?: string;
  readonly maxBody: number;
  readonly expect?: readonly CallIds[];
  readonly groupId?: string;
  readonly id?: string;
  /** Number of results after which it stops; undefined: never. */
  readonly count?: number;
  /** Milliseconds; 0 listens forever. */
  readonly timeout: number;
  readonly supports: ReadonlySet<string>;
  readonly output: keyof typeof FORMATS | 'ndjson';
  readonly save?: string;
}

/** Runs `listen`; being stopped is its normal end. @throws ProtocolCliError `usage`, `port-in-use`, `unwritable-file` */
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

/** `--group-id` and `--id`: like `--expect`, for ids that contain a slash. */
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

/** Prints callbacks until enough results arrived, the time is over, or the reader of the output is gone. */
class Listening {
  /** Why it ended; the transcript records this. */
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

  /** Resolves when listening ends. */
  start(expected: readonly CallIds[]): Promise<void> {
    const { listener, history } = this;
    this.#printReady();
    this.#startOutput();
    const over = this.#untilOver();
    history.keepRecent(listener.calls.expected);
    for (const ids of expected) listener.calls.expect(ids); // subscribed last: every other subscriber must get the event
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

  /** Prints what is missing. Returns the exit status. */
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

  /** Prints in the chosen format; warnings and URLs that the user must visit go to stderr. */
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
      const received = receivedIn(this.history, listener.calls.expected, event);
      if (!received) return;
      afterAnswer(() => {
        if (format) lines.write(() => format.lines(received));
        if (received.kind === 'callback') stderr.write(asideText(received, flags, isTTY));
      });
    });
  }

  /** Rejects if the output cannot be written, for example because the disk is full. */
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
          const received = receivedIn(this.history, this.listener.calls.expected, event);
          if (received?.kind === 'callback' && received.arrival.verdict.kind === 'settles' && --left === 0)
            resolve();
        }),
        flags.timeout > 0 ? run.clock.after(flags.timeout, onTimeout) : () => {},
      );
    });
  }

  /** Returns the expected results that are missing, which are events (RT-TIMEOUT); null if nothing was expected. */
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

/** Runs `work` two turns later, in order: an answer is sent one turn after its event, and drawing may take seconds. */
function afterAnswer(work: () => void): void {
  setImmediate(() => setImmediate(work));
}

function asideText(
  received: ReceivedCallback,
  { output, quiet, supports }: ListenFlags,
  isTTY: boolean,
): string {
  const isPrinted = output === 'json' || quiet === true;
  const warnings = isPrinted ? [] : callbackWarnings(received, supports).map(warningText);
  return [...(output === 'plain' && isTTY ? [] : [consentText(received)]), ...warnings].join('');
}

/** Includes the whole URL, which is shown nowhere else: it is for the user (RT-OAUTH). */
function consentText({ arrival: { message, verdict } }: ReceivedCallback): string {
  if (message?.type !== 'oauth' || verdict.kind !== 'holds') return '';
  return `visit this URL to continue: ${visibleLine(message.auth_url)}\n`;
}

/** An answered callback of another program's call. */
interface ReceivedCallback {
  readonly kind: 'callback';
  readonly exchange: Exchange;
  readonly arrival: Arrival;
  /** The call was expected (`--expect`). */
  readonly isExpected: boolean;
  /** The current state of the view that it updated. */
  readonly view: View | null;
}

/** An answered request: a callback, or one that belongs to no call. */
type Received =
  | ReceivedCallback
  | { readonly kind: 'untracked'; readonly untrackedRequest: UntrackedRequest };

/** Returns the request that the listener answered with this event; null for other events. */
function receivedIn(history: History, expected: ReadonlySet<string>, event: Event): Received | null {
  if (event.kind !== 'response') return null;
  const [key = ''] = event.calls ?? [];
  const exchange = history.exchanges.get(key);
  const arrival = exchange?.arrivals.findLast(({ leg }) => leg === event.leg);
  if (exchange && arrival) {
    const isOther = arrival.verdict.kind === 'discarded' || arrival.verdict.kind === 'rejected';
    const isExpected = expected.has(key) && !isOther;
    return { kind: 'callback', exchange, arrival, isExpected, view: viewOf(history, arrival) };
  }
  const untrackedRequest = history.untracked.get(event.leg);
  return untrackedRequest?.purpose === 'callback' ? { kind: 'untracked', untrackedRequest } : null;
}

/** Returns null if the view was cleared, or the message is not a view. */
function viewOf({ threads }: History, { message, verdict }: Arrival): View | null {
  if (message?.type !== 'view_update' || verdict.kind !== 'noted') return null;
  return threads.get(message.group_id)?.views.get(message.view_type) ?? null;
}

interface FormatOptions {
  readonly supports: ReadonlySet<string>;
  readonly redactor: Redactor;
  readonly callbackUrl: string;
  readonly about: TranscriptAbout;
  readonly level: ColourLevel;
  readonly isTTY: boolean;
  /** Columns; undefined if lines are not wrapped. */
  readonly width?: number | undefined;
}

interface Format {
  lines(received: Received): readonly OutputLine[];
  /** Returns the line printed in place of dropped callbacks. */
  lost(count: number): OutputLine;
}

/** The formats of `-o`. */
const FORMATS = { plain: plainFormat, json: jsonFormat };

/** Returns warnings other than the verdict, which is printed anyway. */
function callbackWarnings(
  { exchange, arrival }: ReceivedCallback,
  supports: ReadonlySet<string>,
): readonly Warning[] {
  const { verdict, warnings } = arrival;
  if (verdict.kind === 'duplicate') return verdict.identical ? [] : arrivalWarnings(arrival, exchange);
  const panes = verdict.kind === 'settles' ? panesOf(exchange, supports) : null;
  return [...warnings, ...(panes?.warnings ?? [])];
}

/** One line for each callback: its verdict, the message, and for a result what the LLM and the human get. */
function jsonFormat({ about, redactor, supports }: FormatOptions): Format {
  const startedAt = Date.parse(about.startedAt);
  const write = (report: object) => safeJsonLine(report, redactor);
  return {
    lines(received) {
      const time = new Date(startedAt + timeOf(received)).toISOString();
      return [write({ time, ...reportOf(received, supports) })];
    },
    lost: dropped => write({ dropped }),
  };
}

const timeOf = (received: Received) =>
  received.kind === 'untracked' ? received.untrackedRequest.at : received.arrival.at;

function reportOf(received: Received, supports: ReadonlySet<string>): object {
  if (received.kind === 'untracked') {
    const { status, refusal: reason } = received.untrackedRequest;
    return { type: null, verdict: 'rejected', status, reason };
  }
  const { exchange, arrival, isExpected: expected } = received;
  const { message, verdict, status, size: bytes } = arrival;
  return {
    type: message?.type ?? null,
    group_id: message?.group_id ?? null,
    id: (message && idOf(message)) ?? null,
    verdict: verdict.kind,
    status: status ?? verdict.status,
    ...('reason' in verdict && { reason: verdict.reason }),
    expected,
    bytes,
    message: message && shareableMessage(message),
    ...(verdict.kind === 'settles' && resultReport(exchange, supports)),
    warnings: callbackWarnings(received, supports),
  };
}

function resultReport(exchange: Exchange, supports: ReadonlySet<string>): object {
  const { settled } = exchange;
  const panes = panesOf(exchange, supports);
  if (settled?.by !== 'result' || !panes) return {};
  return {
    message: settled.native,
    outcome: outcomeOf(exchange),
    llm: { text: llmText(settled.result) },
    display: displayReport(panes),
  };
}

/** As `invoke -o plain`: a line for each message, then what the human sees and what the LLM gets. */
function plainFormat(options: FormatOptions): Format {
  const { level, width } = options;
  const theme = createTheme(level);
  let guesses = 0;
  return {
    lines(received) {
      // Prints only the first, tenth, hundredth request to a wrong address, so guessing does not flood the output.
      const isGuess = received.kind === 'untracked' && received.untrackedRequest.refusal === 'wrong-address';
      if (isGuess && !Number.isInteger(Math.log10(++guesses))) return [];
      const drawn = linesOf(received, options);
      const length = received.kind === 'callback' ? received.arrival.size : 0;
      return [{ length, [Symbol.iterator]: () => joined(drawn, theme, width) }];
    },
    lost: count => `… ${count} events dropped: the reader of stdout is too slow`,
  };
}

/** Returns the lines as text, without the last line feed. */
function* joined(lines: Iterable<Line>, theme: Theme, width: number | undefined): Generator<string> {
  let separator = '';
  for (const line of lines)
    for (const text of width === undefined ? [dressLine(line, theme)] : wrapLine(line, width, theme)) {
      yield `${separator}${text}`;
      separator = '\n';
    }
}

/** In a file or a pipe, only the first line contains the secret address. */
const ON_FIRST_LINE = 'the callback_url of the first line';

const MARGIN = say(' '.repeat(9));

function* linesOf(
  received: Received,
  { isTTY, callbackUrl, supports, width }: FormatOptions,
): Generator<Line> {
  const time = say(`${elapsed(timeOf(received)).padStart(8)} `, 'dim');
  if (received.kind === 'untracked') {
    const line = untrackedLine(received.untrackedRequest, isTTY ? callbackUrl : ON_FIRST_LINE);
    return yield [time, ...line];
  }
  // A file or a pipe is a log: only the user may see URLs that grant access (RT-OAUTH).
  const arrival = isTTY ? received.arrival : shareableArrival(received.arrival);
  const [first = [], ...rest] = callbackLines({ ...received, arrival });
  yield [time, ...first];
  for (const line of rest) yield [MARGIN, ...line];
  const panes = arrival.verdict.kind === 'settles' ? panesOf(received.exchange, supports) : null;
  const drawn = [
    ...(panes ? [panes.human, panes.llm] : []),
    ...(received.view ? [viewPane(received.view)] : []),
  ];
  for (const pane of drawn) {
    yield [];
    yield* wholePane(pane, { ...(width !== undefined && { width }) });
  }
  if (drawn.length > 0) yield [];
}

/** Maximum length of an id or an address, in characters. */
const MAX = 2_000;

/** Returns the lines for a callback: the step, its call, and how to answer it. */
function callbackLines({ exchange, arrival, isExpected }: ReceivedCallback): Line[] {
  const { message, verdict } = arrival;
  const lines = [stepLine(arrivalStep(exchange, arrival))];
  if (message)
    lines.push([say(`  ${relationTo(message, verdict.kind, isExpected)} `, 'dim'), ...idWords(message)]);
  if (message?.type === 'user_choice' && verdict.kind === 'holds') {
    const answer = clipped(JSON.stringify({ id: message.id, selected: message.default }), 'plain', MAX);
    const where = clipped(message.response_url, 'plain', MAX);
    lines.push([say('  to answer, POST ', 'dim'), ...answer, say(' to ', 'dim'), ...where]);
  }
  return lines;
}

/** Describes the call: an expected one, one that a runtime would wait for, or only the ids that the callback names. */
function relationTo(message: Callback, verdict: Arrival['verdict']['kind'], isExpected: boolean): string {
  if (!['settles', 'holds', 'noted', 'ignored'].includes(verdict)) return 'names';
  if (isExpected) return 'matches the expected call:';
  return message.type === 'view_update' ? 'would belong to a thread with' : 'would match a pending call with';
}

function idWords(message: Callback): Line {
  const id = idOf(message);
  const group: Line = [say('group_id ', 'dim'), ...clipped(message.group_id, 'plain', MAX)];
  return id === undefined ? group : [...group, say(' and id ', 'dim'), ...clipped(id, 'plain', MAX)];
}

/** Describes a request that belongs to no call; for a wrong address it includes the right one. */
function untrackedLine(request: UntrackedRequest, callbackUrl: string): Line {
  const { method, url, status, refusal = '' } = request;
  if (refusal !== 'wrong-address') return marked('failed', strayWords(request));
  const refused = clipped(`a ${method} to ${url} was refused with ${status}`, 'plain', MAX);
  return marked('failed', line`${refused}: callbacks go to ${clipped(callbackUrl, 'plain', MAX)}`);
}
