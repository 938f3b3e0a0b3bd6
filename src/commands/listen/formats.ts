import type { Event } from '../../events/events.js';
import { type Arrival, outcomeOf } from '../../events/exchange.js';
import type { Errand, History, View } from '../../events/history.js';
import { idOf } from '../../events/judge-callback.js';
import type { TranscriptHeader } from '../../events/log.js';
import { shareableArrival, shareableMessage } from '../../events/shareable.js';
import { transcriptWriter } from '../../events/transcript-writer.js';
import { llmText } from '../../protocol/outcome.js';
import type { Warning } from '../../protocol/requirements.js';
import { type HeardCallback, heardLines, strayLine } from '../../render/callback-lines.js';
import { elapsed, type Line, say } from '../../render/line.js';
import { paneLines, viewPane } from '../../render/pane-lines.js';
import { panesOf } from '../../render/panes.js';
import type { ColourLevel } from '../../render/terminal/colour-level.js';
import { createTheme, dressLine, wrapLine } from '../../render/terminal/theme.js';
import { arrivalWarnings } from '../../render/warnings.js';
import type { CallIds, ListenerOptions } from '../../runtime/callback-server.js';
import { ProtocolCliError } from '../../util/errors.js';
import type { Redactor } from '../../util/redact.js';
import { type OutputLine, safeJsonLine } from '../../util/redact-json.js';
import { droppedEvents } from '../output.js';

/** Something that came to the listener and was answered: a callback, or a post that is nobody's. */
export type Heard =
  | ({ readonly kind: 'callback'; readonly view: View | null } & HeardCallback)
  | { readonly kind: 'stray'; readonly errand: Errand };

/** What an event says has been heard; null where it is about something else. */
export function heardIn(history: History, expected: ReadonlySet<string>, event: Event): Heard | null {
  if (event.kind !== 'response') return null;
  const [key = ''] = event.calls ?? [];
  const exchange = history.exchanges.get(key);
  const arrival = exchange?.arrivals.findLast(({ leg }) => leg === event.leg);
  if (exchange && arrival) {
    const isExpected = expected.has(key) && !isStranger(arrival);
    return { kind: 'callback', exchange, arrival, isExpected, view: viewOf(history, arrival) };
  }
  const errand = history.errands.get(event.leg);
  return errand?.purpose === 'callback' ? { kind: 'stray', errand } : null;
}

/** The view that was updated, as it is now; null where it was cleared, or is none. */
function viewOf({ threads }: History, { message, verdict }: Arrival): View | null {
  if (message?.type !== 'view_update' || verdict.kind !== 'noted') return null;
  return threads.get(message.group_id)?.views.get(message.view_type) ?? null;
}

/** Compared with what is expected, and found to be something else. */
function isStranger({ verdict: { kind } }: Arrival): boolean {
  return kind === 'discarded' || kind === 'rejected';
}

/** What a format needs to know. */
export interface FormatOptions {
  readonly supports: ReadonlySet<string>;
  readonly redactor: Redactor;
  /** What tools are given. */
  readonly callbackUrl: string;
  readonly about: Pick<TranscriptHeader, 'startedAt' | 'observer' | 'program'>;
  readonly level: ColourLevel;
  readonly isTTY: boolean;
  /** Cells of a line, where there is a limit. */
  readonly width?: number;
}

/** One way to write down what comes, in lines. */
export interface Format {
  readonly begin: readonly OutputLine[];
  /** Whether it tells every event, and not just what was heard. */
  readonly isWhole: boolean;
  lines(event: Event, heard: Heard | null): readonly OutputLine[];
  /** So many came while nobody read. */
  lost(count: number, event: Event): readonly OutputLine[];
  end(reason: string): readonly OutputLine[];
}

type CallbackWarningsHeardCallback = Extract<Heard, { kind: 'callback' }>;

/** What is worth a warning besides the verdict, which is told anyway. */
export function callbackWarnings(
  { exchange, arrival }: CallbackWarningsHeardCallback,
  supports: ReadonlySet<string>,
): readonly Warning[] {
  const { verdict, warnings } = arrival;
  if (verdict.kind === 'duplicate') return verdict.identical ? [] : arrivalWarnings(arrival, exchange);
  const panes = verdict.kind === 'settles' ? panesOf(exchange, supports) : null;
  return [...warnings, ...(panes?.warnings ?? [])];
}

/** A line for each callback: what it was judged to be, what came, and of a result what the LLM and the human get. */
export function jsonFormat(options: FormatOptions): Format {
  const startedAt = Date.parse(options.about.startedAt);
  const write = (report: object) => safeJsonLine(report, options.redactor);
  return {
    begin: [],
    isWhole: false,
    lines(_, heard) {
      if (!heard) return [];
      const { at } = heard.kind === 'stray' ? heard.errand : heard.arrival;
      const time = new Date(startedAt + at).toISOString();
      return [write({ time, ...reportOf(heard, options.supports) })];
    },
    lost: dropped => [write({ dropped })],
    end: () => [],
  };
}

type JsonHeardCallback = Extract<Heard, { kind: 'callback' }>;

function reportOf(heard: Heard, supports: ReadonlySet<string>): object {
  if (heard.kind === 'callback') return callbackReport(heard, supports);
  const { status, refusal } = heard.errand;
  return { type: null, verdict: 'rejected', status, reason: refusal };
}

function callbackReport(heard: JsonHeardCallback, supports: ReadonlySet<string>): object {
  const { arrival, isExpected: expected } = heard;
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
    ...(verdict.kind === 'settles' && resultReport(heard, supports)),
    warnings: callbackWarnings(heard, supports),
  };
}

function resultReport({ exchange }: JsonHeardCallback, supports: ReadonlySet<string>): object {
  const { settled } = exchange;
  const panes = panesOf(exchange, supports);
  if (settled?.by !== 'result' || !panes) return {};
  const { chosen, skipped } = panes.choice;
  return {
    message: settled.native,
    outcome: outcomeOf(exchange),
    llm: { text: llmText(settled.result) },
    display: {
      chosen: chosen?.index ?? null,
      type: chosen?.type ?? 'text',
      reason: panes.choice.chosen === null ? panes.choice.reason : panes.choice.chosen.reason,
      skipped,
    },
  };
}

/** Every event as it happens: the lines of a transcript. */
export function ndjsonFormat({ redactor, about }: FormatOptions): Format {
  const writer = transcriptWriter(redactor);
  return {
    begin: [writer.header(about)],
    isWhole: true,
    lines: event => writer.lines(event),
    lost: (count, event) => writer.event(droppedEvents(count, event)),
    end: reason => [writer.end(reason)],
  };
}

/** The story as `invoke -o plain` tells it: a line for what came, then what the human sees and what the LLM gets. */
export function plainFormat(options: FormatOptions): Format {
  const { level, isTTY, width } = options;
  const theme = createTheme(level);
  const isTimeToTell = tellingLess();
  return {
    begin: [],
    isWhole: false,
    lines(_, heard) {
      if (!heard || !isTimeToTell(heard)) return [];
      const lines = linesOf(isTTY ? heard : shareable(heard), options);
      if (width === undefined) return lines.map(line => dressLine(line, theme));
      return lines.flatMap(line => wrapLine(line, width, theme));
    },
    lost: count => [`… ${count} events dropped: the reader of stdout is too slow`],
    end: () => [],
  };
}

/** In a file or a pipe the address, which is a secret, stands there and nowhere else. */
const ON_FIRST_LINE = 'the callback_url of the first line';

function linesOf(heard: Heard, options: FormatOptions): Line[] {
  const { isTTY, callbackUrl } = options;
  if (heard.kind === 'stray')
    return [timed(heard.errand.at, strayLine(heard.errand, isTTY ? callbackUrl : ON_FIRST_LINE))];
  const [first = [], ...rest] = heardLines(heard);
  return [
    timed(heard.arrival.at, first),
    ...rest.map(line => [MARGIN, ...line]),
    ...paneBlock(heard, options),
  ];
}

const MARGIN = say(' '.repeat(9));

function timed(at: number, line: Line): Line {
  return [say(`${elapsed(at).padStart(8)} `, 'dim'), ...line];
}

/** What is drawn of it, if anything is, with an empty line around each pane. */
function paneBlock(
  { exchange, arrival, view }: Extract<Heard, { kind: 'callback' }>,
  { supports, width }: FormatOptions,
): Line[] {
  const panes = arrival.verdict.kind === 'settles' ? panesOf(exchange, supports) : null;
  const drawn = [...(panes ? [panes.human, panes.llm] : []), ...(view ? [viewPane(view)] : [])];
  if (drawn.length === 0) return [];
  const layout = { count: Number.POSITIVE_INFINITY, ...(width !== undefined && { width }) };
  return [...drawn.flatMap(pane => [[], ...paneLines(pane, layout).lines]), []];
}

/** In a file or a pipe this is a log, and URLs that give power belong before the user only (RT-OAUTH). */
function shareable(heard: Heard): Heard {
  return heard.kind === 'stray' ? heard : { ...heard, arrival: shareableArrival(heard.arrival) };
}

/** A post to a wrong address the first time, the tenth, the hundredth: a guesser must not drown the rest. */
function tellingLess(): (heard: Heard) => boolean {
  let strays = 0;
  return heard => {
    if (heard.kind === 'callback' || heard.errand.refusal !== 'wrong-address') return true;
    strays += 1;
    return Number.isInteger(Math.log10(strays));
  };
}

export type ListenOutput = 'plain' | 'json' | 'ndjson';

/** The options of `listen`, as commander hands them over. */
export interface ListenFlags {
  readonly host: string;
  readonly port: number;
  readonly callbackUrl?: string;
  readonly allowHost?: readonly string[];
  readonly maxBody: number;
  readonly expect?: readonly CallIds[];
  readonly groupId?: string;
  readonly id?: string;
  readonly count?: number;
  /** Milliseconds; 0 stays for ever. */
  readonly timeout: number;
  readonly supports: ReadonlySet<string>;
  readonly output: ListenOutput;
  readonly save?: string;
  readonly quiet?: boolean;
  readonly color: boolean;
}

/** What is to be done. */
export interface ListenPlan {
  readonly flags: ListenFlags;
  readonly listener: ListenerOptions;
  /** The only calls that count; none: all that come. */
  readonly expected: readonly CallIds[];
  /** Results, after which it stops; null: it stays. */
  readonly count: number | null;
}

/** @throws ProtocolCliError `usage`. */
export function planListen(flags: ListenFlags): ListenPlan {
  const { count = null } = flags;
  const expected = [...(flags.expect ?? []), ...onePair(flags)];
  if (count === 0)
    throw new ProtocolCliError('usage', '--count must be at least 1', {
      hint: 'Without --count, listen runs until it is stopped.',
    });
  if (count !== null && expected.length > 0 && count > expected.length)
    throw new ProtocolCliError('usage', `--count ${count}: only ${expected.length} results are expected`, {
      hint: 'Each expected call has one result.',
    });
  return { flags, listener: listenerOf(flags), expected, count };
}

/** `--group-id` and `--id`: what `--expect` says, for ids that have a slash in them. */
function onePair({ groupId, id }: ListenFlags): CallIds[] {
  if (groupId === undefined && id === undefined) return [];
  if (groupId && id) return [{ groupId, id }];
  throw new ProtocolCliError('usage', '--group-id and --id need each other and cannot be empty', {
    hint: 'Both identify a call. Without them, all callbacks are shown.',
  });
}

function listenerOf({
  host,
  port,
  callbackUrl,
  allowHost,
  maxBody,
  output,
  save,
}: ListenFlags): ListenerOptions {
  const keepBodies = output === 'ndjson' || save !== undefined;
  const publicUrl = callbackUrl === undefined ? {} : { publicUrl: callbackUrl };
  return { host, port, allowedHosts: allowHost ?? [], maxBody, keepBodies, ...publicUrl };
}
