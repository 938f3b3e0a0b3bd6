import {
  acknowledgedAfter,
  type Exchange,
  isSubscribed,
  llmTextOf,
  openQuestions,
  outcomeOf,
} from '../../events/exchange.js';
import { type CallLog, History } from '../../events/history.js';
import { arrivalWarnings, type Step, subscriptionEventIn } from '../../render/callbacks.js';
import {
  argsCell,
  type CallState,
  idCell,
  notAcknowledged,
  outcomeLine,
  timeCell,
  viewOf,
} from '../../render/calls.js';
import {
  clipped,
  type Line,
  line,
  MARKS,
  pluralize,
  quote,
  runningClock,
  type Span,
  say,
  took,
} from '../../render/line.js';
import { panesOf } from '../../render/panes.js';
import type { ProblemLines } from '../../render/problems-tab.js';
import { missingSteps, newStepsOf, runningSteps, stepLines } from '../../render/steps.js';
import type { TimelineEntry } from '../../render/wire.js';
import { parsePatch } from '../../segments/diff.js';
import { Memo, memoizeByObject } from '../../util/collections.js';
import { patchOf } from '../../util/patch-of.js';
import type { Redactor } from '../../util/redact.js';
import { formatDuration } from '../../util/text.js';
import { visibleLine } from '../../util/visible.js';
import { tableOf, WITH_PANES } from '../calls/list-detail.js';
import { callSheets, MADE_CALL_TABS, recentSheets, type ShownCall } from '../calls/tabs.js';
import {
  type Document,
  joinedDocument,
  linesDocument,
  onePart,
  type Part,
  panePart,
  type Sheet,
  textDocument,
} from '../document/documents.js';
import { CALL_COLUMNS, keysLine } from '../layout.js';
import type { Model, Source } from './model.js';

type Tab = (typeof MADE_CALL_TABS)[number]['name'];

type News = NonNullable<ReturnType<typeof subscriptionEventIn>>;

const TABLE = {
  columns: [
    CALL_COLUMNS.time,
    CALL_COLUMNS.operation,
    CALL_COLUMNS.args,
    { name: 'server', title: 'SERVER', max: 24 },
    CALL_COLUMNS.id,
    CALL_COLUMNS.thread,
  ],
  dispensable: ['thread', 'id', 'args', 'server', 'time', 'args'],
} as const;

interface CallsOptions {
  readonly model: Model;
  readonly source: () => Source;
  readonly now: () => number;
  readonly marked: () => Compared | null;
  /** The supported types of display segments (RT-DISPLAY). */
  readonly supports: ReadonlySet<string>;
  readonly onChange: () => void;
}

export function callsList({ model, source, now, marked, supports, onChange }: CallsOptions) {
  const recent = recentSheets<Tab>();
  const sheetsOf = (from: Source, key: string): Record<Tab, () => Sheet> => {
    const call = new MadeCall(from, key, supports, model);
    return { ...callSheets(call, onChange), compare: compareWith(call, marked) };
  };
  const rowOf = (exchange: Exchange) => {
    const { callLog, redactor, isLive } = source();
    const { operation, arguments: args, id, group_id } = exchange.invocation;
    // An expected or denied call was never sent.
    const begunAt = exchange.attempts[0]?.sentAt ?? callLog.of(exchange.key)[0]?.at ?? 0;
    const state = isLive ? exchangeState(exchange, begunAt, now()) : recordedState(exchange, begunAt);
    const problems = hasProblems(exchange) && say('  ! see Problems', 'warn');
    return viewOf(
      { ...state, line: line`${state.line}${problems}` },
      {
        time: timeCell(begunAt),
        operation: clipped(operation),
        args: argsCell(args, redactor),
        server: clipped(serverName(exchange, source(), model), 'dim'),
        id: idCell(id),
        thread: idCell(group_id),
      },
    );
  };
  return {
    title: 'Calls',
    tabs: MADE_CALL_TABS,
    ...WITH_PANES,
    entries() {
      const { id, callLog } = source();
      return { name: `${id}`, keys: callLog.keys, get: (key: string) => callLog.history.exchanges.get(key) };
    },
    titleOf: ({ invocation: { operation, id } }: Exchange) => `${operation} ${id}`,
    textOf: (exchange: Exchange) => {
      const { operation, id, group_id, arguments: args } = exchange.invocation;
      return [operation, id, group_id, args, llmTextOf(exchange)];
    },
    isMarked: (exchange: Exchange, tab: Tab) => tab === 'problems' && hasProblems(exchange),
    ...tableOf(() => TABLE, rowOf),
    sheetOf({ key }: Exchange, tab: Tab): Sheet {
      const from = source();
      return recent.of(from.callLog.of(key), () => sheetsOf(from, key))[tab]();
    },
    empty(): readonly Line[] {
      const { isLive, name, callLog } = source();
      if (!isLive) return withoutCalls(name, callLog.whole.events.length);
      const how = ' shows the tools: choose an operation there, fill in its form, run it.';
      return [line`No calls yet.`, [say('t', 'title'), say(how, 'dim')]];
    },
  };
}

function withoutCalls(name: string, events: number): readonly Line[] {
  const held =
    events === 0
      ? 'It has no events: the recording ended or was cut before the first one.'
      : `It has ${pluralize(events, 'event')} but no invocation. To see them, run protocol-cli render.`;
  return [
    line`No calls in ${quote(name, 'title')}.`,
    [say(held, 'dim')],
    keysLine('Press ', 'V', ' for the next transcript, or ', 'O', ' to open another one.'),
  ];
}

/** The server of a call; empty if all calls have the same server. In a transcript, the server is its address. */
function serverName(
  { key, endpoint }: Exchange,
  { isLive, callLog }: Source,
  { servers, serverOf }: Model,
): string {
  const { toolsets } = callLog.history;
  const ready = servers.filter(({ state }) => state.kind === 'ready').map(({ id }) => id);
  const places = isLive ? ready : toolsets.map(each => `${each.base} ${each.endpoint}`);
  if (new Set(places).size < 2) return '';
  const id = isLive ? serverOf(key) : null;
  const about = servers.find(server => server.id === id)?.about;
  const base = toolsets.findLast(each => each.endpoint === endpoint)?.base; // the server may be closed
  return (about ?? base ?? endpoint).replace(/^http:\/\//, '');
}

/** The unanswered question of this call, else the oldest one of all calls. */
export function openChoice(key: string | null, { history, underWay }: CallLog) {
  for (const each of key === null ? underWay : [key, ...underWay]) {
    const exchange = history.exchanges.get(each);
    for (const { leg, message } of exchange ? openQuestions(exchange) : [])
      if (message.type === 'user_choice') return { key: each, leg, question: message };
  }
  return null;
}

/** A call that this program made. Its events are processed as they arrive: the cost does not depend on earlier events. */
class MadeCall implements ShownCall {
  readonly forgotten = 0;
  readonly emptyViewsText = 'the thread of this call has no views';
  readonly checkedSide = '';
  readonly redactor: Redactor;
  readonly #callLog: CallLog;
  readonly #history = new History();
  readonly #entries: TimelineEntry[] = [];
  /** The events of its subscription. */
  readonly #news: News[] = [];
  /** A recording shows the requests of both sides. */
  readonly #both: MadeCall | null;
  readonly #pending = new Memo<Sheet>();
  readonly #panes = new Memo<readonly ReturnType<typeof withEvents>[]>();

  constructor(
    from: Pick<Source, 'callLog' | 'redactor'>,
    private readonly key: string,
    private readonly supports: ReadonlySet<string>,
    private readonly model: Pick<Model, 'isUnvalidated'>,
  ) {
    const { callLog, redactor } = from;
    const { whole } = callLog;
    this.#callLog = callLog;
    this.redactor = redactor;
    this.#both = whole === callLog ? null : new MadeCall({ callLog: whole, redactor }, key, supports, model);
  }

  get entries(): readonly TimelineEntry[] {
    for (const event of this.#callLog.of(this.key).slice(this.#entries.length)) {
      this.#history.apply(event);
      this.#entries.push({ event, steps: this.#clean(newStepsOf(this.#history, event)) });
      const news = subscriptionEventIn(this.#history, event);
      if (news) this.#news.push(news);
    }
    return this.#entries;
  }

  get wire(): readonly TimelineEntry[] {
    return (this.#both ?? this).entries;
  }

  get exchange(): Exchange | undefined {
    return this.#callLog.history.exchanges.get(this.key);
  }

  get running() {
    const { isSaved, whole } = this.#callLog;
    const at = whole.events.at(-1)?.at ?? 0;
    return this.#clean(isSaved ? missingSteps(this.#history, at) : runningSteps(this.#history));
  }

  get revision(): number {
    return this.#callLog.of(this.key).length + this.#callLog.of(null).length;
  }

  /** The human's and the LLM's pane (RT-DISPLAY, RT-TEXT, RT-SUB); for a pending call, the steps so far. */
  get result(): Sheet {
    const { exchange, entries, running } = this;
    if (!exchange?.settled) {
      const steps = () => [...entries.flatMap(each => each.steps), ...running].flatMap(stepLines);
      const title = this.#callLog.isSaved ? NO_RESULT : PENDING;
      return this.#pending.of([entries.length], () => onePart(title, steps()));
    }
    const panes = this.#panes.of([exchange.settled], () =>
      panesWithEvents(exchange, this.supports, this.redactor),
    );
    const open = this.#callLog.isSaved ? NOT_ENDED : SO_FAR;
    return panes.map(partOf => partOf(exchange, this.#news, open));
  }

  get views() {
    const { threads } = this.#callLog.history;
    return threads.get(this.exchange?.invocation.group_id ?? '')?.views.values() ?? [];
  }

  async judge(): Promise<ProblemLines> {
    const { exchange, redactor } = this;
    const callLog = this.#callLog;
    if (!exchange) return () => [];
    const { judgedLines } = await import('../../render/problems-tab.js');
    const isUnvalidated = !callLog.isSaved && this.model.isUnvalidated(this.key);
    return judgedLines(callLog.whole.concerning(exchange), exchange, redactor, callLog, isUnvalidated);
  }

  /** Redacts steps: they quote the tool, which may echo credentials (threats, row 25). */
  #clean(steps: readonly Step[]): readonly Step[] {
    const clean = (line: Line) => line.map(span => ({ ...span, text: this.redactor.text(span.text) }));
    return steps.map(step => ({ ...step, lines: step.lines.map(clean) }));
  }
}

const PENDING: Line = [say('PENDING', 'title'), say(' the steps so far', 'dim')];

const NO_RESULT: Line = [say('NO RESULT', 'title'), say(' in this recording', 'dim')];

function panesWithEvents(exchange: Exchange, supports: ReadonlySet<string>, redactor: Redactor) {
  const panes = panesOf(exchange, supports);
  if (!panes) return [];
  return [
    withEvents(withOutput(panePart(panes.human), exchange, redactor), ({ line }) => linesDocument([line])),
    withEvents(panePart(panes.llm), ({ heading, text }) =>
      joinedDocument([linesDocument([heading]), textDocument(text)]),
    ),
  ];
}

/** A part with the last output of the server below it, if the server exited during the call. */
function withOutput(part: Part, { settled }: Exchange, redactor: Redactor): Part {
  const output = settled?.by === 'unreachable' ? (settled.output ?? []) : [];
  if (output.length === 0) return part;
  const documents = new Memo<Document>();
  const title = [say('its last output', 'dim')];
  const more = linesDocument([[], title, ...output.map(each => quote(redactor.text(each)))]);
  return {
    ...part,
    document(look) {
      const own = part.document(look);
      return documents.of([own], () => joinedDocument([own, more]));
    },
  };
}

/** A part with the events of the call's subscription below it, if there is one. */
function withEvents(part: Part, lay: (news: News) => Document) {
  const events = joinedDocument([]);
  const documents = new Memo<Document>();
  return (exchange: Exchange, news: readonly News[], open: Span): Part => {
    if (!exchange.subscription) return part;
    for (const each of news.slice(events.count)) events.add(() => lay(each));
    return {
      title: [...part.title, ...eventCount(exchange, open)],
      isStream: true,
      document(look) {
        const own = part.document(look);
        const parts = events.count === 0 ? [own] : [own, linesDocument([[]]), events];
        return documents.of([own, events.count], () => joinedDocument(parts));
      },
    };
  };
}

/** A call and the redactor for its secrets. */
interface Compared {
  readonly exchange: Exchange;
  readonly redactor: Redactor;
}

const COMPARE_HELP = onePart(
  [say('COMPARE', 'title')],
  [[say('= marks this call; select another one and press = to compare them', 'dim')]],
);

/** Maximum length of a compared text, in characters: a diff of longer ones would take too long. */
const MAX_COMPARED = 200_000;

function compareWith(call: MadeCall, marked: CallsOptions['marked']): () => Sheet {
  const compared = new Memo<Sheet>();
  return () => {
    const one = marked();
    const { exchange, redactor } = call;
    if (!one || !exchange || one.exchange.key === exchange.key) return COMPARE_HELP;
    return compared.of([one.exchange, exchange], () => comparedSheet(one, { exchange, redactor }));
  };
}

/** A diff of two calls: operation, arguments, time until the result, text for the LLM. */
function comparedSheet(one: Compared, other: Compared): Sheet {
  const about = `${one.exchange.invocation.id} → ${other.exchange.invocation.id}`;
  const areSame = llmTextOf(one.exchange) === llmTextOf(other.exchange);
  const title = [
    say('COMPARE ', 'title'),
    ...quote(about, 'dim'),
    say(areSame ? ' · same text' : '', 'good'),
  ];
  const [before, after] = [comparedText(one), comparedText(other)];
  if (before === after) return onePart(title, [[say('✓ ', 'good'), say('no difference')]]);
  const patch = patchOf('call', before, after);
  const parsed = parsePatch(patch);
  if (!parsed.ok) return onePart(title, [quote(parsed.reason, 'bad')]);
  const drawing = { kind: 'diff', path: 'call', raw: patch, diff: parsed.diff } as const;
  return [panePart({ title: 'view', about, notes: [], drawing }, title)];
}

function comparedText({ exchange, redactor }: Compared): string {
  const { invocation, attempts, settled } = exchange;
  const after = settled ? formatDuration(settled.at - (attempts[0]?.sentAt ?? settled.at)) : 'pending';
  const text = [
    `operation: ${invocation.operation}`,
    `arguments: ${JSON.stringify(invocation.arguments, null, 2)}`,
    `result after: ${after}`,
    'text for the LLM:',
    llmTextOf(exchange) ?? '(none)',
  ].join('\n');
  return `${redactor.text(text).slice(0, MAX_COMPARED).toWellFormed()}\n`;
}

function exchangeState(exchange: Exchange, begunAt: number, now: number): CallState {
  const { settled, waitingFor } = exchange;
  if (settled) {
    const state = settledState(exchange, settled.at - begunAt, SO_FAR);
    return isSubscribed(exchange) ? { ...state, mark: MARKS.running } : state;
  }
  const asks = waitingFor?.type === 'oauth' ? 'asks for consent' : 'asks for a choice';
  return {
    mark: waitingFor ? MARKS.asking : MARKS.running,
    line: line`${waitingFor ? say(asks, 'warn') : dispatchWords(exchange)}${runningClock(now - begunAt)}`,
    isRunning: true,
  };
}

/** The final state: nothing of a recording is still running. */
function recordedState(exchange: Exchange, begunAt: number): CallState {
  const { settled } = exchange;
  if (settled) return settledState(exchange, settled.at - begunAt, NOT_ENDED);
  return { mark: MARKS.failed, line: [say(missingWords(exchange), 'bad')], isRunning: false };
}

function missingWords(exchange: Exchange): string {
  const { misdirected, waitingFor, attempts } = exchange;
  const { status, broken } = attempts.at(-1) ?? {};
  if (misdirected > 0) return 'posted to a wrong address';
  if (waitingFor) return 'no result, and no answer to its question';
  if (acknowledgedAfter(exchange) !== null || attempts.length === 0) return 'no result';
  return `not acknowledged: ${visibleLine(broken?.code ?? String(status ?? 'no answer'))}`;
}

const SO_FAR = say(' so far', 'running');

const NOT_ENDED = say(', open', 'warn');

/** @param open about a subscription that has not ended */
function settledState(exchange: Exchange, ms: number, open: Span): CallState {
  const outcome = outcomeOnce(exchange);
  return {
    mark: outcome?.type === 'success' ? MARKS.done : MARKS.failed,
    line: line`${outcome && outcomeLine(outcome)}${took(ms)}${eventCount(exchange, open)}`,
    isRunning: false,
  };
}

/** Whether the tool sent a callback that was refused or ignored; the Problems tab checks all requirements. */
const hasProblems = memoizeByObject(
  (exchange: Exchange) =>
    exchange.misdirected > 0 ||
    exchange.arrivals
      .flatMap(arrival => arrivalWarnings(arrival, exchange))
      .some(({ id }) => id === 'RT-VALIDATE' || id?.startsWith('TOOL-')),
);

/** Cached: the text that contains the outcome may be large. */
const outcomeOnce = memoizeByObject(outcomeOf);

function dispatchWords(exchange: Exchange): Line {
  const last = exchange.attempts.at(-1);
  if (!last) return [say('expected', 'running')];
  if (acknowledgedAfter(exchange) !== null) return [say('acknowledged', 'running')];
  return last.endedAt === undefined ? [say('sent', 'running')] : notAcknowledged(last);
}

const ENDED_BY = { final: null, cancel: ', canceled', close: ', closed' } as const;

/** The number of subscription events, and how the subscription ended without a final event. @param open if it has not ended */
function eventCount({ subscription }: Exchange, open: Span): Line {
  if (!subscription) return [];
  const { events, ended } = subscription;
  const count = `, ${pluralize(events, 'event')}`;
  if (!ended) return [say(count, open.tone), open];
  const end = ENDED_BY[ended.by];
  return [say(count, 'dim'), ...(end === null ? [] : [say(end, 'warn')])];
}
