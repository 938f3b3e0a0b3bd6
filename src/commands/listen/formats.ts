import type { Event } from '../../events/events.js';
import { type Arrival, type Exchange, outcomeOf } from '../../events/exchange.js';
import { idOf } from '../../events/fold-exchange.js';
import type { History, UntrackedRequest, View } from '../../events/history.js';
import { shareableArrival, shareableMessage } from '../../events/shareable.js';
import type { TranscriptAbout } from '../../events/transcript-writer.js';
import type { Callback } from '../../protocol/callbacks.js';
import { llmText } from '../../protocol/outcome.js';
import type { Warning } from '../../protocol/requirements.js';
import { arrivalWarnings } from '../../render/callbacks.js';
import { clipped, elapsed, type Line, line, marked, say } from '../../render/line.js';
import { displayReport } from '../../render/outputs/call-report.js';
import { panesOf, viewPane, wholePane } from '../../render/panes.js';
import { arrivalStep, stepLine, strayWords } from '../../render/steps.js';
import type { ColourLevel } from '../../render/terminal/colour-level.js';
import { createTheme, dressLine, type Theme, wrapLine } from '../../render/terminal/theme.js';
import { type OutputLine, type Redactor, safeJsonLine } from '../../util/redact.js';

/** A callback that was answered, of a call that another program made. */
export interface HeardCallback {
  readonly kind: 'callback';
  readonly exchange: Exchange;
  readonly arrival: Arrival;
  /** The call was announced (`--expect`). */
  readonly isExpected: boolean;
  /** The view that it updated, as it is now. */
  readonly view: View | null;
}

/** Something that came to the listener and was answered: a callback, or a post that belongs to no call. */
type Heard = HeardCallback | { readonly kind: 'stray'; readonly untrackedRequest: UntrackedRequest };

/** What was heard, if the event is an answer of the listener; else null. */
export function heardIn(history: History, expected: ReadonlySet<string>, event: Event): Heard | null {
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
  return untrackedRequest?.purpose === 'callback' ? { kind: 'stray', untrackedRequest } : null;
}

/** Null if the view was cleared, or the message is not one. */
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
  /** Columns, if lines are wrapped. */
  readonly width?: number | undefined;
}

/** How callbacks are printed. */
interface Format {
  lines(heard: Heard): readonly OutputLine[];
  /** What is printed in place of dropped callbacks. */
  lost(count: number): OutputLine;
}

/** `-o`, besides the transcript. */
export const FORMATS = { plain: plainFormat, json: jsonFormat };

/** What is worth a warning besides the verdict, which is printed anyway. */
export function callbackWarnings(
  { exchange, arrival }: HeardCallback,
  supports: ReadonlySet<string>,
): readonly Warning[] {
  const { verdict, warnings } = arrival;
  if (verdict.kind === 'duplicate') return verdict.identical ? [] : arrivalWarnings(arrival, exchange);
  const panes = verdict.kind === 'settles' ? panesOf(exchange, supports) : null;
  return [...warnings, ...(panes?.warnings ?? [])];
}

/** A line for each callback: its verdict, the message, and of a result what the LLM and the human get. */
function jsonFormat({ about, redactor, supports }: FormatOptions): Format {
  const startedAt = Date.parse(about.startedAt);
  const write = (report: object) => safeJsonLine(report, redactor);
  return {
    lines(heard) {
      const time = new Date(startedAt + timeOf(heard)).toISOString();
      return [write({ time, ...reportOf(heard, supports) })];
    },
    lost: dropped => write({ dropped }),
  };
}

const timeOf = (heard: Heard) => (heard.kind === 'stray' ? heard.untrackedRequest.at : heard.arrival.at);

function reportOf(heard: Heard, supports: ReadonlySet<string>): object {
  if (heard.kind === 'stray') {
    const { status, refusal: reason } = heard.untrackedRequest;
    return { type: null, verdict: 'rejected', status, reason };
  }
  const { exchange, arrival, isExpected: expected } = heard;
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
    warnings: callbackWarnings(heard, supports),
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
    lines(heard) {
      // Prints the first, the tenth, the hundredth post to a wrong address, so that a guesser cannot drown the rest.
      const isGuess = heard.kind === 'stray' && heard.untrackedRequest.refusal === 'wrong-address';
      if (isGuess && !Number.isInteger(Math.log10(++guesses))) return [];
      const drawn = linesOf(heard, options);
      const length = heard.kind === 'callback' ? heard.arrival.size : 0;
      return [{ length, [Symbol.iterator]: () => joined(drawn, theme, width) }];
    },
    lost: count => `… ${count} events dropped: the reader of stdout is too slow`,
  };
}

/** The lines as text, without the last line feed. */
function* joined(lines: Iterable<Line>, theme: Theme, width: number | undefined): Generator<string> {
  let separator = '';
  for (const line of lines)
    for (const text of width === undefined ? [dressLine(line, theme)] : wrapLine(line, width, theme)) {
      yield `${separator}${text}`;
      separator = '\n';
    }
}

/** In a file or a pipe, the secret address is on the first line only. */
const ON_FIRST_LINE = 'the callback_url of the first line';

const MARGIN = say(' '.repeat(9));

function* linesOf(heard: Heard, { isTTY, callbackUrl, supports, width }: FormatOptions): Generator<Line> {
  const time = say(`${elapsed(timeOf(heard)).padStart(8)} `, 'dim');
  if (heard.kind === 'stray') {
    const line = strayLine(heard.untrackedRequest, isTTY ? callbackUrl : ON_FIRST_LINE);
    return yield [time, ...line];
  }
  // A file or a pipe is a log: only the user may see URLs that give power (RT-OAUTH).
  const arrival = isTTY ? heard.arrival : shareableArrival(heard.arrival);
  const [first = [], ...rest] = heardLines({ ...heard, arrival });
  yield [time, ...first];
  for (const line of rest) yield [MARGIN, ...line];
  const panes = arrival.verdict.kind === 'settles' ? panesOf(heard.exchange, supports) : null;
  const drawn = [...(panes ? [panes.human, panes.llm] : []), ...(heard.view ? [viewPane(heard.view)] : [])];
  for (const pane of drawn) {
    yield [];
    yield* wholePane(pane, { ...(width !== undefined && { width }) });
  }
  if (drawn.length > 0) yield [];
}

/** Characters of an id or of an address. */
const MOST = 2_000;

/** A callback as a step, for which call it is, and how to answer it. */
function heardLines({ exchange, arrival, isExpected }: HeardCallback): Line[] {
  const { message, verdict } = arrival;
  const lines = [stepLine(arrivalStep(exchange, arrival))];
  if (message)
    lines.push([say(`  ${relationTo(message, verdict.kind, isExpected)} `, 'dim'), ...idWords(message)]);
  if (message?.type === 'user_choice' && verdict.kind === 'holds') {
    const answer = clipped(JSON.stringify({ id: message.id, selected: message.default }), 'plain', MOST);
    const where = clipped(message.response_url, 'plain', MOST);
    lines.push([say('  to answer, POST ', 'dim'), ...answer, say(' to ', 'dim'), ...where]);
  }
  return lines;
}

/** An expected call, one that a runtime would have to wait for, or only the ids that a callback names. */
function relationTo(message: Callback, verdict: Arrival['verdict']['kind'], isExpected: boolean): string {
  if (!['settles', 'holds', 'noted', 'ignored'].includes(verdict)) return 'names';
  if (isExpected) return 'matches the expected call:';
  return message.type === 'view_update' ? 'would belong to a thread with' : 'would match a pending call with';
}

function idWords(message: Callback): Line {
  const id = idOf(message);
  const group: Line = [say('group_id ', 'dim'), ...clipped(message.group_id, 'plain', MOST)];
  return id === undefined ? group : [...group, say(' and id ', 'dim'), ...clipped(id, 'plain', MOST)];
}

/** A request that belongs to no call; one to a wrong address with the right one. */
function strayLine(request: UntrackedRequest, callbackUrl: string): Line {
  const { method, url, status, refusal = '' } = request;
  if (refusal !== 'wrong-address') return marked('failed', strayWords(request));
  const refused = clipped(`a ${method} to ${url} was refused with ${status}`, 'plain', MOST);
  return marked('failed', line`${refused}: callbacks go to ${clipped(callbackUrl, 'plain', MOST)}`);
}
