import { type Exchange, outcomeOf } from '../../events/exchange.js';
import { idOf } from '../../events/judge-callback.js';
import { shareableArrival, shareableMessage } from '../../events/shareable.js';
import { llmText } from '../../protocol/outcome.js';
import type { Warning } from '../../protocol/requirements.js';
import type { SignatureKey } from '../../protocol/webhook-signature.js';
import { arrivalWarnings } from '../../render/callbacks.js';
import { elapsed, type Line, say, UNWRAPPED } from '../../render/line.js';
import { displayReport } from '../../render/outputs/call-report.js';
import { warningText } from '../../render/outputs/trouble.js';
import { panesOf, viewPane, wholePane } from '../../render/panes.js';
import { backgroundOf } from '../../render/terminal/background.js';
import { createTheme, type Theme } from '../../render/terminal/theme.js';
import { wrapLine } from '../../render/terminal/wrap.js';
import type { BoundedOutput } from '../../system/streams.js';
import { type OutputLine, safeJsonLine } from '../../util/output-line.js';
import { visibleLine } from '../../util/visible.js';
import type { Run } from '../run.js';
import { colourOf } from '../terminal.js';
import { callbackLines, untrackedLine } from './callback-lines.js';
import type { ArrivedCallback, Received } from './received.js';
import { webhookLines, webhookReport } from './webhooks.js';

/** In a file or a pipe, only the first line contains the secret address. */
const ON_FIRST_LINE = 'the callback_url of the first line';

const MARGIN = say(' '.repeat(9));

export interface WriterFlags {
  readonly output: 'plain' | 'json' | 'ndjson';
  readonly supports: ReadonlySet<string>;
  readonly quiet?: boolean;
  readonly color: boolean;
}

/** Writes what was received: as `invoke -o plain` does, or as a JSON line for each callback; warnings go to stderr. */
export class Writer {
  readonly #isTTY: boolean;
  readonly #theme: Theme;
  readonly #width: number | undefined;
  /** Number of posts to a wrong address. */
  #wrongAddressCount = 0;

  constructor(
    private readonly out: BoundedOutput,
    private readonly flags: WriterFlags,
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
    if (received.kind === 'callback') this.run.terminal.stderr.write(this.#stderrText(received));
  }

  /** Warnings; and the URL that the user must visit, which is shown nowhere else (RT-OAUTH). */
  #stderrText(callback: ArrivedCallback): string {
    const { output, quiet, supports } = this.flags;
    const { message, verdict } = callback.arrival;
    const isConsent = message?.type === 'oauth' && verdict.kind === 'holds';
    const isShown = output === 'plain' && this.#isTTY;
    const warnings = output === 'json' || quiet ? [] : warningsOf(callback, supports).map(warningText);
    const visit =
      isConsent && !isShown ? `visit this URL to continue: ${visibleLine(message.auth_url)}\n` : '';
    return visit + warnings.join('');
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
      warnings: warningsOf(received, this.flags.supports),
    };
    return safeJsonLine(report, redactor);
  }

  /** Of the posts to a wrong address, only the first, tenth, hundredth are printed, so guessing does not flood the output. */
  #plain(received: Received): readonly OutputLine[] {
    const isGuess = received.kind === 'untracked' && received.request.refusal === 'wrong-address';
    if (isGuess && !Number.isInteger(Math.log10(++this.#wrongAddressCount))) return [];
    const length = received.kind === 'callback' ? received.arrival.size : 0;
    return [{ length, [Symbol.iterator]: () => this.#rows(received) }];
  }

  *#rows(received: Received): Generator<string> {
    const lines = received.kind === 'webhook' ? this.#drawWebhook(received) : this.#drawCallback(received);
    for (const line of lines)
      for (const row of wrapLine(line, this.#width ?? UNWRAPPED, this.#theme)) yield `${row}\n`;
  }

  #drawWebhook({ at, webhook }: Extract<Received, { kind: 'webhook' }>): Line[] {
    const { redactor } = this.run;
    const time = say(`${elapsed(at).padStart(8)} `, 'dim');
    return webhookLines(webhook, this.keys, redactor.text).map((each, index) => [
      index === 0 ? time : MARGIN,
      ...each,
    ]);
  }

  *#drawCallback(received: Exclude<Received, { kind: 'webhook' }>): Generator<Line> {
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

/** Returns warnings other than the verdict, which is printed anyway. */
function warningsOf(
  { exchange, arrival }: ArrivedCallback,
  supports: ReadonlySet<string>,
): readonly Warning[] {
  const { verdict, warnings } = arrival;
  if (verdict.kind === 'duplicate') return verdict.identical ? [] : arrivalWarnings(arrival, exchange);
  const panes = verdict.kind === 'settles' ? panesOf(exchange, supports) : null;
  return [...warnings, ...(panes?.warnings ?? [])];
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
