import type { Event } from '../../events/events.js';
import { type Arrival, type Exchange, outcomeOf, type VerdictKind } from '../../events/exchange.js';
import { History } from '../../events/history.js';
import { idOf } from '../../events/judge-callback.js';
import { shareableArrival, shareableMessage } from '../../events/shareable.js';
import type { View } from '../../events/threads.js';
import { streamTranscript } from '../../events/transcript-writer.js';
import type { UntrackedRequest } from '../../events/untracked-requests.js';
import type { Callback } from '../../protocol/callbacks.js';
import { llmText } from '../../protocol/outcome.js';
import type { Warning } from '../../protocol/requirements.js';
import { type SignatureKey, WebhookJudge } from '../../protocol/webhook-signature.js';
import { arrivalOf, arrivalStep, arrivalWarnings } from '../../render/callbacks.js';
import { clipped, elapsed, type Line, line, quote, say, UNWRAPPED, withMark } from '../../render/line.js';
import { displayReport } from '../../render/outputs/call-report.js';
import { type Trouble, warningText } from '../../render/outputs/trouble.js';
import { panesOf, viewPane, wholePane } from '../../render/panes.js';
import { stepLine } from '../../render/steps.js';
import { backgroundOf } from '../../render/terminal/background.js';
import { createTheme, type Theme } from '../../render/terminal/theme.js';
import { wrapLine } from '../../render/terminal/wrap.js';
import { misdirected, refusedText } from '../../render/warnings.js';
import { type CallIds, type JudgedWebhook, OpenListener } from '../../runtime/callback-server.js';
import { type BoundedOutput, isClosed, outputOf } from '../../system/streams.js';
import { ProtocolCliError } from '../../util/errors.js';
import { type OutputLine, safeJsonLine } from '../../util/output-line.js';
import { formatDuration } from '../../util/text.js';
import { visibleLine } from '../../util/visible.js';
import { type ServerFlags, usageError } from '../options.js';
import type { Run } from '../run.js';
import { networkWarnings, printReady, runServer } from '../run-server.js';
import { colourOf, type ExitStatus, type Terminal } from '../terminal.js';
import { readSignatures, webhookLines, webhookReport } from './webhooks.js';

interface ListenFlags extends ServerFlags {
  readonly callbackUrl?: string;
  readonly maxBody: number;
  readonly expect?: readonly CallIds[];
  readonly groupId?: string;
  readonly id?: string;
  /** Schemes and secrets of webhooks. */
  readonly signature?: readonly string[];
  /** Number of results after which it stops; undefined: never. */
  readonly count?: number;
  /** Milliseconds; 0 listens forever. */
  readonly timeout: number;
  readonly supports: ReadonlySet<string>;
  readonly output: 'plain' | 'json' | 'ndjson';
  readonly save?: string;
}

/** Runs `listen`; being stopped is its normal end. @throws ProtocolCliError `usage`, `port-in-use`, `unwritable-file` */
export async function runListen(flags: ListenFlags, terminal: Terminal): Promise<number> {
  const expected = [...(flags.expect ?? []), ...expectedPair(flags)];
  checkCount(flags, expected.length);
  const keys = readSignatures(flags.signature ?? [], terminal.env);
  if (keys.length > 0 && expected.length > 0)
    throw usageError('--signature excludes --expect, --group-id and --id', 'A webhook names no call.');
  const secrets = keys.map(({ secret }) => secret);
  return runServer({ terminal, secrets }, async (run, onClose) => {
    const history = new History();
    run.log.subscribe(event => history.apply(event));
    const { host, port, callbackUrl: publicUrl, allowHost: allowedHosts = [], maxBody, output, save } = flags;
    const keepBodies = output === 'ndjson' || save !== undefined;
    const address = { host, port, publicUrl, allowedHosts, maxBody };
    const listener = await (keys.length === 0
      ? OpenListener.start(run.log, history, { ...address, keepBodies })
      : OpenListener.start(
          run.log,
          history,
          { ...address, accepts: 'anything' },
          { judge: new WebhookJudge(keys), clock: run.clock },
        ));
    run.redactor.add(listener.token);
    const listening = new Listening(flags, keys, listener, run, history);
    onClose(() => listening.close());
    await run.save(save);
    return { quit: listening.start(expected), verify: async () => listening.report() };
  });
}

/** `--group-id` and `--id`: like `--expect`, for ids that contain a slash. */
function expectedPair({ groupId, id }: ListenFlags): CallIds[] {
  if (groupId === undefined && id === undefined) return [];
  if (groupId && id) return [{ groupId, id }];
  throw usageError(
    '--group-id and --id need each other and cannot be empty',
    'Both identify a call. Without them, all callbacks are shown.',
  );
}

function checkCount({ count }: ListenFlags, expected: number): void {
  if (count === 0)
    throw usageError('--count must be at least 1', 'Without --count, listen runs until it is stopped.');
  if (count !== undefined && expected > 0 && count > expected)
    throw usageError(
      `--count ${count}: only ${expected} results are expected`,
      'Each expected call has one result.',
    );
}

/** Prints callbacks until enough results arrived, the time is over, or the reader of the output is gone. */
class Listening {
  /** Why it ended; the transcript records this. */
  #reason: 'done' | 'timeout' | 'unwritable-file' | 'failed' = 'failed';
  #trouble: Trouble | null = null;
  readonly #output: BoundedOutput;
  /** Why the output could not be written. */
  #failure: unknown;
  #endOutput: (reason: string) => void = () => {};
  readonly #stops: (() => void)[] = [];

  constructor(
    private readonly flags: ListenFlags,
    private readonly keys: readonly SignatureKey[],
    private readonly listener: OpenListener,
    private readonly run: Run,
    private readonly history: History,
  ) {
    this.#output = outputOf(run.terminal.stdout);
  }

  /** Resolves when listening ends; rejects if the output cannot be written, for example because the disk is full. */
  start(expected: readonly CallIds[]): Promise<void> {
    const { flags, listener, history, run } = this;
    const { stdout } = run.terminal;
    this.#printReady();
    const over = new Promise<void>((resolve, reject) => {
      const onTimeout = () => {
        this.#reason = 'timeout';
        resolve();
      };
      const fail = (error: unknown) => {
        this.#failure ??= error;
        this.#reason = error instanceof ProtocolCliError ? 'unwritable-file' : 'failed';
        reject(error);
      };
      const onError = (error: Error) => {
        if (isClosed(stdout)) return resolve(); // the reader is gone
        const message = `cannot write the output: ${error.message}`;
        fail(new ProtocolCliError('unwritable-file', message, { cause: error }));
      };
      this.#output.onError(fail);
      stdout.on('error', onError);
      this.#stops.push(this.#print(resolve));
      if (flags.timeout > 0) this.#stops.push(run.clock.after(flags.timeout, onTimeout));
    });
    history.keepRecent(listener.expected);
    for (const ids of expected) listener.expect(ids); // subscribed last: every other subscriber must get the event
    this.#reason = 'done';
    return over;
  }

  async close(): Promise<void> {
    for (const stop of this.#stops) stop();
    if (this.#reason === 'timeout') this.#trouble = this.#shortfall();
    await this.listener.server.close();
    await new Promise<void>(afterAnswer);
    const reason = this.#reason === 'timeout' ? (this.#trouble?.code ?? 'done') : this.#reason;
    if (this.#failure === undefined) this.#endOutput(reason);
    await this.run.endTranscript(reason); // first, because a reader may be slow
    await this.#output.written().catch(() => {}); // thrown below as `#failure`
    if (this.#failure !== undefined) throw this.#failure;
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
    const { callbackUrl: callback_url, server } = this.listener;
    const { port, url } = server;
    const whom = this.keys.length > 0 ? 'send webhooks to' : 'give tools this callback_url';
    const text = `listening at ${url}, ${whom}:\n${callback_url}`;
    const stream = flags.output === 'plain' ? stdout : stderr;
    printReady({ port, url, callback_url }, text, run.terminal, { stream });
    if (!flags.quiet) for (const message of networkWarnings(flags)) run.warn({ message });
  }

  /**
   * Prints in the chosen format; warnings and URLs that the user must visit go to stderr.
   * @param onEnough called at the last result of `--count`
   */
  #print(onEnough: () => void): () => void {
    const { flags, run, listener } = this;
    const { redactor, about, log } = run;
    if (flags.output === 'ndjson') {
      const transcript = streamTranscript(this.#output, redactor, about);
      log.subscribe(event => afterAnswer(() => transcript.event(event)));
      this.#endOutput = transcript.end;
    }
    const writer = new Writer(this.#output, flags, this.keys, run, listener.callbackUrl);
    let left = flags.count ?? Number.POSITIVE_INFINITY;
    return log.subscribe(event => {
      const received = this.#receivedIn(event);
      if (!received) return;
      afterAnswer(() => writer.write(received));
      if (isCounted(received) && --left === 0) onEnough();
    });
  }

  /** Returns the request that the listener answered with this event; null for other events. */
  #receivedIn(event: Event): Received | null {
    const { history, listener } = this;
    const webhook = event.kind === 'response' ? listener.webhookOf(event) : null;
    if (webhook) return { kind: 'webhook', at: webhook.at, webhook };
    return callbackIn(history, listener.expected, event);
  }

  /** Returns the expected results that are missing, which are events (RT-TIMEOUT); null if nothing was expected. */
  #shortfall(): Trouble | null {
    const { flags, listener, history, run } = this;
    const { timeout: afterMs, count } = flags;
    const pending = [...listener.expected].flatMap(key => {
      const exchange = history.exchanges.get(key);
      return exchange && !exchange.settled ? [exchange] : [];
    });
    run.log.emit({ kind: 'expired', what: 'timeout', afterMs, calls: pending.map(({ key }) => key) });
    if (pending.length === 0 && count === undefined) return null;
    const faults = pending.map(({ invocation }) => `group_id ${invocation.group_id}, id ${invocation.id}`);
    const fewer = `with fewer than ${count} ${this.keys.length > 0 ? 'genuine webhooks' : 'results'}`;
    const missing = faults.length > 0 ? 'without the expected results' : fewer;
    return {
      code: 'timeout',
      message: `timed out after ${formatDuration(afterMs)} ${missing}`,
      hint: `Check that tools use the callback_url of ${listener.server.url}; --timeout allows more time.`,
      faults,
    };
  }
}

/** Runs `work` two turns later, in order: an answer is sent one turn after its event, and drawing may take seconds. */
function afterAnswer(work: () => void): void {
  setImmediate(() => setImmediate(work));
}

/** An answered callback of another program's call. */
interface ArrivedCallback {
  readonly kind: 'callback';
  readonly at: number;
  readonly exchange: Exchange;
  readonly arrival: Arrival;
  /** The call was expected (`--expect`). */
  readonly isExpected: boolean;
  /** The current state of the view that it updated; null if it was cleared, and for other messages. */
  readonly view: View | null;
}

/** An answered request: a callback, a webhook, or a callback that belongs to no call. */
type Received =
  | ArrivedCallback
  | { readonly kind: 'webhook'; readonly at: number; readonly webhook: JudgedWebhook }
  | { readonly kind: 'untracked'; readonly at: number; readonly request: UntrackedRequest };

/** Whether `--count` counts it. */
function isCounted(received: Received): boolean {
  if (received.kind === 'webhook') return received.webhook.status === 200;
  return received.kind === 'callback' && received.arrival.verdict.kind === 'settles';
}

function callbackIn(history: History, expected: ReadonlySet<string>, event: Event): Received | null {
  if (event.kind !== 'response') return null;
  const { exchange, arrival } = arrivalOf(history, event) ?? {};
  if (!exchange || !arrival) {
    const request = history.untracked.get(event.leg);
    return request?.purpose === 'callback' ? { kind: 'untracked', at: request.at, request } : null;
  }
  const { message, verdict, at } = arrival;
  const isOther = verdict.kind === 'discarded' || verdict.kind === 'rejected';
  const isExpected = expected.has(exchange.key) && !isOther;
  const isView = message?.type === 'view_update' && verdict.kind === 'noted';
  const view = isView && history.threads.get(message.group_id)?.views.get(message.view_type);
  return { kind: 'callback', at, exchange, arrival, isExpected, view: view || null };
}

/** In a file or a pipe, only the first line contains the secret address. */
const ON_FIRST_LINE = 'the callback_url of the first line';

const MARGIN = say(' '.repeat(9));

/** Maximum length of an id or an address, in characters. */
const MAX = 2_000;

/** Writes what was received: as `invoke -o plain` does, or as a JSON line for each callback. */
class Writer {
  readonly #isTTY: boolean;
  readonly #theme: Theme;
  readonly #width: number | undefined;
  /** Number of posts to a wrong address. */
  #guesses = 0;

  constructor(
    private readonly out: BoundedOutput,
    private readonly flags: ListenFlags,
    private readonly keys: readonly SignatureKey[],
    private readonly run: Run,
    private readonly callbackUrl: string,
  ) {
    const { stdout } = run.terminal;
    this.#isTTY = stdout.isTTY === true;
    this.#theme = createTheme(colourOf(stdout, flags, run.terminal), backgroundOf(run.terminal.env));
    this.#width = this.#isTTY ? stdout.columns : undefined;
  }

  write(received: Received): void {
    const { output } = this.flags;
    if (output === 'json') this.out.news(() => [this.#json(received), '\n'], jsonOfDropped);
    else if (output === 'plain') this.out.news(() => this.#plain(received));
    if (received.kind === 'callback') this.run.terminal.stderr.write(this.#aside(received));
  }

  /** Warnings; and the URL that the user must visit, which is shown nowhere else (RT-OAUTH). */
  #aside(received: ArrivedCallback): string {
    const { output, quiet } = this.flags;
    const { message, verdict } = received.arrival;
    const isConsent = message?.type === 'oauth' && verdict.kind === 'holds';
    const isShown = output === 'plain' && this.#isTTY;
    const warnings = output === 'json' || quiet ? [] : this.#warnings(received).map(warningText);
    const visit =
      isConsent && !isShown ? `visit this URL to continue: ${visibleLine(message.auth_url)}\n` : '';
    return visit + warnings.join('');
  }

  /** Returns warnings other than the verdict, which is printed anyway. */
  #warnings({ exchange, arrival }: ArrivedCallback): readonly Warning[] {
    const { verdict, warnings } = arrival;
    if (verdict.kind === 'duplicate') return verdict.identical ? [] : arrivalWarnings(arrival, exchange);
    const panes = verdict.kind === 'settles' ? panesOf(exchange, this.flags.supports) : null;
    return [...warnings, ...(panes?.warnings ?? [])];
  }

  /** The verdict, the message, and for a result what the LLM and the human get. */
  #json(received: Received): OutputLine {
    const { about, redactor } = this.run;
    const time = new Date(Date.parse(about.startedAt) + received.at).toISOString();
    if (received.kind === 'webhook') return safeJsonLine(webhookReport(received.webhook, time), redactor);
    if (received.kind === 'untracked') {
      const { status, refusal: reason } = received.request;
      return safeJsonLine({ time, type: null, verdict: 'rejected', status, reason }, redactor);
    }
    const { exchange, arrival, isExpected: expected } = received;
    const { message, verdict, status, size: bytes } = arrival;
    const report = {
      time,
      type: message?.type ?? null,
      group_id: message?.group_id ?? null,
      id: (message && idOf(message)) ?? null,
      verdict: verdict.kind,
      status: status ?? verdict.status,
      ...('reason' in verdict && { reason: verdict.reason }),
      expected,
      bytes,
      message: message && shareableMessage(message),
      ...(verdict.kind === 'settles' && resultReport(exchange, this.flags.supports)),
      warnings: this.#warnings(received),
    };
    return safeJsonLine(report, redactor);
  }

  /** Of the posts to a wrong address, only the first, tenth, hundredth are printed, so guessing does not flood the output. */
  #plain(received: Received): readonly OutputLine[] {
    const isGuess = received.kind === 'untracked' && received.request.refusal === 'wrong-address';
    if (isGuess && !Number.isInteger(Math.log10(++this.#guesses))) return [];
    const length = received.kind === 'callback' ? received.arrival.size : 0;
    return [{ length, [Symbol.iterator]: () => this.#texts(received) }];
  }

  *#texts(received: Received): Generator<string> {
    const lines = received.kind === 'webhook' ? this.#drawnWebhook(received) : this.#drawn(received);
    for (const line of lines)
      for (const row of wrapLine(line, this.#width ?? UNWRAPPED, this.#theme)) yield `${row}\n`;
  }

  #drawnWebhook({ at, webhook }: Extract<Received, { kind: 'webhook' }>): Line[] {
    const { redactor } = this.run;
    const time = say(`${elapsed(at).padStart(8)} `, 'dim');
    return webhookLines(webhook, this.keys, redactor.text).map((each, index) => [
      index === 0 ? time : MARGIN,
      ...each,
    ]);
  }

  *#drawn(received: Exclude<Received, { kind: 'webhook' }>): Generator<Line> {
    const time = say(`${elapsed(received.at).padStart(8)} `, 'dim');
    if (received.kind === 'untracked') {
      const line = untrackedLine(received.request, this.#isTTY ? this.callbackUrl : ON_FIRST_LINE);
      return yield [time, ...line];
    }
    // A file or a pipe is a log: only the user may see URLs that grant access (RT-OAUTH).
    const arrival = this.#isTTY ? received.arrival : shareableArrival(received.arrival);
    const [first = [], ...rest] = callbackLines({ ...received, arrival });
    yield [time, ...first];
    for (const line of rest) yield [MARGIN, ...line];
    const panes = arrival.verdict.kind === 'settles' ? panesOf(received.exchange, this.flags.supports) : null;
    const drawn = [
      ...(panes ? [panes.human, panes.llm] : []),
      ...(received.view ? [viewPane(received.view)] : []),
    ];
    for (const pane of drawn) {
      yield [];
      yield* wholePane(pane, { ...(this.#width !== undefined && { width: this.#width }) });
    }
    if (drawn.length > 0) yield [];
  }
}

function jsonOfDropped(dropped: number): OutputLine[] {
  return [safeJsonLine({ dropped }), '\n'];
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

/** Returns the lines for a callback: the step, its call, and how to answer it. */
function callbackLines({ exchange, arrival, isExpected }: ArrivedCallback): Line[] {
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
function relationTo(message: Callback, verdict: VerdictKind, isExpected: boolean): string {
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
  if (refusal !== 'wrong-address') return withMark('failed', quote(refusedText(request)));
  const refused = clipped(`a ${method} to ${url} was refused with ${status}`, 'plain', MAX);
  return withMark('failed', line`${refused}: callbacks go to ${clipped(callbackUrl, 'plain', MAX)}`);
}
