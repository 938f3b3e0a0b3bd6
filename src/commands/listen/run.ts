import { keeping } from '../../events/bounded-events.js';
import type { Event } from '../../events/events.js';
import { type Arrival, type Exchange, isSubscribed } from '../../events/exchange.js';
import { History } from '../../events/history.js';
import { createLog, type Log, type TranscriptHeader } from '../../events/log.js';
import { withQuestionSecrets } from '../../events/shareable.js';
import type { Trouble } from '../../render/outputs/reporter.js';
import { troubleText, warningText } from '../../render/outputs/trouble.js';
import { misdirected } from '../../render/warnings.js';
import { type OpenListener, startOpenListener } from '../../runtime/callback-server.js';
import { type Clock, systemClock } from '../../system/drafts.js';
import { isClosed } from '../../system/streams.js';
import { keepHeapTight } from '../../system/watch-files.js';
import { ProtocolCliError } from '../../util/errors.js';
import { formatDuration } from '../../util/format-duration.js';
import { createRedactor, type Redactor } from '../../util/redact.js';
import { visibleLine } from '../../util/visible.js';
import { BoundedLines, colourOf } from '../output.js';
import { networkWarnings, printReady } from '../run-server.js';
import { saveTranscript } from '../save-files.js';
import {
  type ExitStatus,
  type Interruption,
  interruption,
  PROGRAM,
  statusOfFailure,
  type Terminal,
} from '../terminal.js';
import {
  callbackWarnings,
  type Format,
  type FormatOptions,
  type Heard,
  heardIn,
  jsonFormat,
  type ListenFlags,
  type ListenOutput,
  type ListenPlan,
  ndjsonFormat,
  plainFormat,
  planListen,
} from './formats.js';

export interface HistoryLimits {
  readonly calls: number;
  /** Of one call, besides its result. */
  readonly arrivals: number;
  /** Of messages, in bytes. */
  readonly bytes: number;
}

const LIMITS: HistoryLimits = { calls: 2_000, arrivals: 400, bytes: 32 * 1024 * 1024 };

/**
 * Keeps a history small however long it is told: the calls of long ago go, with what is known of their threads, down to half of
 * what is allowed, so that it is not done each time. What is expected stays; of a call whose subscription is open its messages go
 * first, and itself only where there are too many of those.
 */
export class BoundedHistory {
  #bytes = 0;

  constructor(
    private readonly history: History,
    private readonly expected: ReadonlySet<string>,
    private readonly limits: HistoryLimits = LIMITS,
  ) {}

  /** To be told each event after the history, and after whoever looks things up there. */
  apply(event: Event): void {
    if (event.kind === 'request') this.#bytes += event.body?.size ?? 0;
    if (event.kind !== 'response') return;
    for (const key of event.calls ?? []) this.#shorten(key);
    const { exchanges } = this.history;
    if (exchanges.size - this.expected.size > this.limits.calls || this.#bytes > this.limits.bytes)
      this.#forget();
  }

  /** Of a call that is told things again and again, the latest and its result: later verdicts depend on that. */
  #shorten(key: string): void {
    const exchange = this.history.exchanges.get(key);
    if (!exchange) return;
    const { arrivals: most, bytes } = this.limits;
    const isHeavy = weightOf(exchange) > bytes / 2;
    if (!isHeavy && exchange.arrivals.length <= most) return;
    const from = exchange.arrivals.length - (isHeavy ? 1 : Math.ceil(most / 2));
    const shorter = keeping(exchange, (arrival, index) => index >= from || isResult(arrival));
    this.history.exchanges.set(key, shorter);
  }

  #forget(): void {
    const { exchanges } = this.history;
    let calls = exchanges.size - this.expected.size;
    let bytes = 0;
    for (const exchange of exchanges.values()) bytes += weightOf(exchange);
    const isEnough = () => calls <= this.limits.calls / 2 && bytes <= this.limits.bytes / 2;
    for (const [key, exchange] of exchanges) {
      if (isEnough() || calls === 1) break; // the latest stays, however large it is
      if (this.expected.has(key)) continue;
      bytes -= weightOf(exchange);
      if (isSubscribed(exchange)) exchanges.set(key, withoutMessages(exchange));
      else {
        exchanges.delete(key);
        calls--;
      }
    }
    this.#bytes = bytes;
    this.#forgetSubscribed();
    this.#forgetThreads();
  }

  /** The oldest of what is still subscribed, where even that is too much. */
  #forgetSubscribed(): void {
    const { exchanges } = this.history;
    let surplus = exchanges.size - this.expected.size - this.limits.calls;
    for (const key of exchanges.keys()) {
      if (surplus <= 0) return;
      if (!this.expected.has(key) && exchanges.delete(key)) surplus--;
    }
  }

  /** Views are shown as they come: nobody asks for them again. */
  #forgetThreads(): void {
    const { threads, exchanges } = this.history;
    for (const thread of threads.values()) {
      const calls = thread.calls.filter(key => exchanges.has(key));
      if (calls.length === 0) threads.delete(thread.id);
      else threads.set(thread.id, { ...thread, calls, views: new Map() });
    }
  }
}

/** Still settled and subscribed, for the verdicts to come; what was told of it is told no more. */
function withoutMessages(exchange: Exchange): Exchange {
  const { settled } = exchange;
  const shorter = keeping(exchange, () => false);
  if (settled?.by !== 'result') return shorter;
  return { ...shorter, settled: { ...settled, result: { ...settled.result, text: '' }, native: null } };
}

function isResult({ verdict }: Arrival): boolean {
  return verdict.kind === 'settles';
}

function weightOf({ arrivals }: Exchange): number {
  return arrivals.reduce((sum, { size }) => sum + size, 0);
}

interface Waited {
  readonly plan: ListenPlan;
  readonly log: Log;
  readonly history: History;
  readonly listener: OpenListener;
}

/** What was waited for and did not come in time, which then is a fact (RT-TIMEOUT); null where nothing was. */
function shortfallOf({ plan, log, history, listener }: Waited): Trouble | null {
  const afterMs = plan.flags.timeout;
  const within = formatDuration(afterMs);
  const pending = [...listener.calls.expected].flatMap(key => pendingCall(history, key));
  log.emit({ kind: 'expired', what: 'timeout', afterMs, calls: pending.map(({ key }) => key) });
  const hint = `Check that tools use the callback_url of ${listener.url}; --timeout allows more time.`;
  if (pending.length > 0) {
    const faults = pending.map(({ invocation }) => `group_id ${invocation.group_id}, id ${invocation.id}`);
    return {
      code: 'timeout',
      message: `timed out after ${within} without the expected results`,
      faults,
      hint,
    };
  }
  if (plan.count === null) return null;
  return {
    code: 'timeout',
    message: `timed out after ${within} with fewer than ${plan.count} results`,
    hint,
  };
}

function pendingCall({ exchanges }: History, key: string): Exchange[] {
  const exchange = exchanges.get(key);
  return exchange && !exchange.settled ? [exchange] : [];
}

/** Why it stays no longer: somebody stopped it, enough came, the time is over, or nobody reads what is told. */
type Parting = 'stopped' | 'enough' | 'timeout' | 'unread';

interface Stay {
  readonly log: Log;
  readonly history: History;
  readonly listener: OpenListener;
  readonly clock: Clock;
  readonly interrupted: Interruption;
  readonly terminal: Terminal;
  /** Results; null: it stays. */
  readonly count: number | null;
  /** 0: it stays. */
  readonly timeoutMs: number;
}

/**
 * Resolves when it is time to go.
 * @throws ProtocolCliError `unwritable-file` where what comes can no longer be told, as on a full disk.
 */
function staying(stay: Stay): Promise<Parting> {
  const { log, clock, interrupted, timeoutMs } = stay;
  const { stdout } = stay.terminal;
  return new Promise((resolve, reject) => {
    const isEnough = counting(stay);
    const stops: (() => void)[] = [];
    const leave = (parting: Parting | ProtocolCliError) => {
      for (const stop of stops) stop();
      if (parting instanceof ProtocolCliError) reject(parting);
      else resolve(parting);
    };
    stops.push(
      log.subscribe(event => isEnough(event) && leave('enough')),
      timeoutMs > 0 ? clock.after(timeoutMs, () => leave('timeout')) : () => {},
      onFailure(stdout, error => leave(error ?? 'unread')),
      interrupted.onSignal(() => leave('stopped')),
    );
  });
}

function counting({ history, listener, count }: Stay): (event: Event) => boolean {
  let results = 0;
  return event => {
    const heard = count === null ? null : heardIn(history, listener.calls.expected, event);
    if (heard?.kind === 'callback' && heard.arrival.verdict.kind === 'settles') results += 1;
    return count !== null && results >= count;
  };
}

function onFailure(
  stdout: NodeJS.WritableStream,
  call: (error: ProtocolCliError | null) => void,
): () => void {
  const listener = (error: Error) =>
    call(
      isClosed(stdout)
        ? null
        : new ProtocolCliError('unwritable-file', `cannot write the output: ${error.message}`, {
            cause: error,
          }),
    );
  stdout.on('error', listener);
  return () => stdout.off('error', listener);
}

const FORMATS: Readonly<Record<ListenOutput, (options: FormatOptions) => Format>> = {
  plain: plainFormat,
  json: jsonFormat,
  ndjson: ndjsonFormat,
};

interface TellingDesk {
  readonly log: Log;
  readonly flags: ListenFlags;
  readonly terminal: Terminal;
  readonly history: History;
  readonly listener: OpenListener;
  readonly redactor: Redactor;
  readonly about: Pick<TranscriptHeader, 'startedAt' | 'observer' | 'program'>;
}

/** How what comes is told while it does. */
interface Telling {
  end(reason: string): void;
}

function printListener({ flags, terminal, listener }: TellingDesk): void {
  const { stdout, stderr } = terminal;
  const { port, url, callbackUrl: callback_url } = listener;
  const text = `listening at ${url}, give tools this callback_url:\n${callback_url}`;
  const stream = flags.output === 'plain' ? stdout : stderr;
  printReady({ port, url, callback_url }, text, terminal, { stream });
  if (!flags.quiet) for (const message of networkWarnings(flags)) stderr.write(warningText({ message }));
}

/** What came, in the format asked for; what a person must see at once, and warnings, go to stderr. */
function startTelling(desk: TellingDesk): Telling {
  const { flags, terminal, log, history, listener } = desk;
  const { stdout, stderr } = terminal;
  const format = FORMATS[flags.output](formatOptions(desk));
  let latest: Event | undefined;
  const lines = new BoundedLines(stdout, count => (latest ? format.lost(count, latest) : []));
  lines.end(() => format.begin);
  log.subscribe(event => {
    const heard = heardIn(history, listener.calls.expected, event);
    if (heard || format.isWhole) lines.write(() => format.lines(event, heard));
    latest = event;
    if (heard?.kind === 'callback') stderr.write(asideText(heard, flags, stdout.isTTY === true));
  });
  return { end: reason => lines.end(() => format.end(reason)) };
}

function formatOptions({ flags, terminal, redactor, about, listener }: TellingDesk): FormatOptions {
  const { stdout } = terminal;
  const isTTY = stdout.isTTY === true;
  const level = colourOf(stdout, flags, terminal);
  const width = isTTY ? { width: stdout.columns } : {};
  const { callbackUrl } = listener;
  return { supports: flags.supports, redactor, callbackUrl, about, level, isTTY, ...width };
}

function asideText(
  heard: Extract<Heard, { kind: 'callback' }>,
  { output, quiet, supports }: ListenFlags,
  isTTY: boolean,
): string {
  const isTold = output === 'json' || quiet === true;
  const warnings = isTold ? [] : callbackWarnings(heard, supports).map(warningText);
  return [...(output === 'plain' && isTTY ? [] : [consentText(heard)]), ...warnings].join('');
}

/** Whole, which it is nowhere else: it is for the person (RT-OAUTH). */
function consentText({ arrival: { message, verdict } }: Extract<Heard, { kind: 'callback' }>): string {
  if (message?.type !== 'oauth' || verdict.kind !== 'holds') return '';
  return `visit this URL to continue: ${visibleLine(message.auth_url)}\n`;
}

/** `listen`, from the flags to the exit status: to be stopped is its normal end. */
export async function runListen(
  flags: ListenFlags,
  terminal: Terminal,
  clock: Clock = systemClock,
): Promise<ExitStatus> {
  const plan = planListen(flags);
  keepHeapTight();
  const log = createLog(() => clock.now());
  const history = new History();
  log.subscribe(event => history.apply(event));
  const interrupted = interruption();
  try {
    await using listener = await startOpenListener(log, history, plan.listener);
    const redactor = withQuestionSecrets(createRedactor([listener.token]));
    log.subscribe(event => redactor.learn(event));
    const about = { startedAt: clock.wall().toISOString(), observer: 'runtime', program: PROGRAM } as const;
    return await listen({
      plan,
      flags,
      terminal,
      clock,
      log,
      history,
      listener,
      redactor,
      about,
      interrupted,
    });
  } finally {
    interrupted.release();
  }
}

interface Run extends TellingDesk {
  readonly plan: ListenPlan;
  readonly clock: Clock;
  readonly interrupted: Interruption;
}

/** Tells what comes until it is time to go. What is expected becomes known last: everybody must hear of it. */
async function listen(run: Run): Promise<ExitStatus> {
  const { plan, flags, terminal, log, history, listener } = run;
  const finish = await transcriptOf(run);
  printListener(run);
  const telling = startTelling(run);
  const parting = staying({ ...run, count: plan.count, timeoutMs: flags.timeout });
  const bounded = new BoundedHistory(history, listener.calls.expected);
  log.subscribe(event => bounded.apply(event));
  for (const ids of plan.expected) listener.calls.expect(ids);
  const parted = await parting.catch(async error => {
    await listener.close();
    await finish('unwritable-file'); // what could not be told is worth keeping all the more
    throw error;
  });
  const trouble = parted === 'timeout' ? shortfallOf(run) : null;
  await listener.close();
  const reason = trouble?.code ?? 'done';
  telling.end(reason);
  await finish(reason);
  if (!flags.quiet) terminal.stderr.write(wrongAddressText(history));
  if (trouble) terminal.stderr.write(troubleText(trouble));
  return trouble ? statusOfFailure(trouble.code) : 0;
}

/** How many posts came to a wrong address: each line about them may be long gone, and most have none. */
function wrongAddressText({ errands }: History): string {
  const lost = [...errands.values()].filter(({ refusal }) => refusal === 'wrong-address');
  return misdirected(lost, errands.misdirected).map(warningText).join('');
}

async function transcriptOf({
  flags: { save },
  log,
  redactor,
  about,
  terminal,
}: Run): Promise<(reason: string) => Promise<void>> {
  return save === undefined ? async () => {} : saveTranscript(log, save, redactor, about, terminal);
}
