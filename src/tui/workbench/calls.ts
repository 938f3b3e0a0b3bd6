import { parsePatch } from '../../display/diff.js';
import type { Highlighter } from '../../display/syntax.js';
import {
  acknowledgedAfter,
  type Exchange,
  isSubscribed,
  llmTextOf,
  openQuestions,
  outcomeOf,
} from '../../events/exchange.js';
import { type CallLog, History } from '../../events/history.js';
import type { UserChoice } from '../../protocol/callbacks.js';
import { arrivalWarnings, newsIn, type Step } from '../../render/callbacks.js';
import {
  argsCell,
  type CallState,
  type CallView,
  idCell,
  notAcknowledged,
  outcomeWords,
  timeCell,
  viewOf,
} from '../../render/calls.js';
import type { ProblemLines } from '../../render/check-report.js';
import {
  clipped,
  counted,
  type Line,
  line,
  MARKS,
  quote,
  runningClock,
  say,
  took,
} from '../../render/line.js';
import { panesOf } from '../../render/panes.js';
import { newStepsOf, runningSteps, stepLines } from '../../render/steps.js';
import type { TimelineEntry } from '../../render/wire.js';
import { Memo, onceEach } from '../../util/collections.js';
import { patchOf } from '../../util/patch-of.js';
import type { Redactor } from '../../util/redact.js';
import { formatDuration } from '../../util/text.js';
import { tableOf, WITH_PANES } from '../calls/list-detail.js';
import {
  callTabs,
  KeptSheets,
  onePart,
  type Part,
  panePart,
  type Sheet,
  type SheetLook,
  type SheetOf,
  type Story,
} from '../calls/tabs.js';
import {
  type Document,
  joinedDocument,
  type Look,
  linesDocument,
  paneDocument,
  textDocument,
} from '../document/documents.js';
import { CALL_COLUMNS, type Table } from '../layout.js';
import type { Model, Source } from './model.js';

export const CALL_TABS = [
  { name: 'result', title: 'Human / LLM' },
  { name: 'timeline', title: 'Timeline' },
  { name: 'wire', title: 'Wire' },
  { name: 'views', title: 'Views' },
  { name: 'problems', title: 'Problems' },
  { name: 'compare', title: 'Compare' },
] as const;

type CallTab = (typeof CALL_TABS)[number]['name'];

type News = NonNullable<ReturnType<typeof newsIn>>;

const TABLE: Table<ExchangeColumn> = {
  columns: [
    CALL_COLUMNS.time,
    CALL_COLUMNS.operation,
    CALL_COLUMNS.args,
    { name: 'server', title: 'SERVER', max: 24 },
    CALL_COLUMNS.id,
    CALL_COLUMNS.thread,
  ],
  dispensable: ['thread', 'id', 'args', 'server', 'time', 'args'],
};

interface CallsOptions extends Omit<SheetsOptions, 'isUnvalidated'> {
  readonly model: Model;
  readonly source: () => Source;
  readonly now: () => number;
}

export function callsList({ model, source, now, ...options }: CallsOptions) {
  const sheets = new CallSheets({ ...options, isUnvalidated: model.isUnvalidated });
  // A recording is shown in its final state.
  const rowOf = (exchange: Exchange) => {
    const { callLog, redactor, isLive } = source();
    const at = isLive ? now() : (callLog.whole.events.at(-1)?.at ?? 0);
    const row = exchangeRow(exchange, at, callLog, serverName(exchange, source(), model), redactor);
    return { ...row, isRunning: isLive && row.isRunning };
  };
  return {
    title: 'Calls',
    tabs: CALL_TABS,
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
    isMarked: (exchange: Exchange, tab: CallTab) => tab === 'problems' && hasProblems(exchange),
    ...tableOf(() => TABLE, rowOf),
    sheetOf: ({ key }: Exchange, tab: CallTab, look: SheetLook) =>
      sheets.sheetOf(tab, { ...source(), key }, look),
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
      : `It has ${counted(events, 'event')} but no invocation. To see them, run protocol-cli render.`;
  return [
    line`No calls in ${quote(name, 'title')}.`,
    [say(held, 'dim')],
    [
      say('Press ', 'dim'),
      say('V', 'title'),
      say(' for the next transcript, or ', 'dim'),
      say('O', 'title'),
      say(' to open another one.', 'dim'),
    ],
  ];
}

/** The server of a call; undefined if all calls have the same server. In a transcript, the server is its address. */
function serverName(
  { key, endpoint }: Exchange,
  { isLive, callLog }: Source,
  { servers, serverOf }: Model,
): string | undefined {
  const { toolsets } = callLog.history;
  const ready = servers.filter(({ state }) => state.kind === 'ready').map(({ id }) => id);
  const places = isLive ? ready : toolsets.map(each => `${each.base} ${each.endpoint}`);
  if (new Set(places).size < 2) return undefined;
  const id = isLive ? serverOf(key) : null;
  const about = servers.find(server => server.id === id)?.about;
  const base = toolsets.findLast(each => each.endpoint === endpoint)?.base; // the server may be closed
  return (about ?? base ?? endpoint).replace(/^http:\/\//, '');
}

interface OpenChoice {
  readonly key: string;
  readonly leg: string;
  readonly question: UserChoice;
}

/** The unanswered question of this call, else the oldest one of all calls. */
export function openChoice(key: string | null, { history, underWay }: CallLog): OpenChoice | null {
  for (const each of key === null ? underWay : [key, ...underWay]) {
    const exchange = history.exchanges.get(each);
    for (const { leg, message } of exchange ? openQuestions(exchange) : [])
      if (message.type === 'user_choice') return { key: each, leg, question: message };
  }
  return null;
}

/** The events of a call, processed as they arrive: the cost does not depend on earlier events. */
class CallStory implements Story {
  readonly forgotten = 0;
  readonly #history = new History();
  readonly #entries: TimelineEntry[] = [];
  readonly #news: News[] = [];

  constructor(
    private readonly callLog: CallLog,
    private readonly key: string,
    private readonly redactor: Redactor,
  ) {}

  get entries(): readonly TimelineEntry[] {
    this.#update();
    return this.#entries;
  }

  /** The events of its subscription so far; only grows. */
  get news(): readonly News[] {
    this.#update();
    return this.#news;
  }

  get exchange(): Exchange | undefined {
    return this.callLog.history.exchanges.get(this.key);
  }

  get running() {
    return this.#clean(runningSteps(this.#history));
  }

  /** Redacts steps: they quote the tool, which may echo credentials (threats, row 25). */
  #clean(steps: readonly Step[]): readonly Step[] {
    const clean = (line: Line) => line.map(span => ({ ...span, text: this.redactor.text(span.text) }));
    return steps.map(step => ({ ...step, lines: step.lines.map(clean) }));
  }

  #update(): void {
    for (const event of this.callLog.of(this.key).slice(this.#entries.length)) {
      this.#history.apply(event);
      this.#entries.push({ event, steps: this.#clean(newStepsOf(this.#history, event)) });
      const news = newsIn(this.#history, event);
      if (news) this.#news.push(news);
    }
  }
}

/** A call and the redactor for its secrets. */
interface Compared {
  readonly exchange: Exchange;
  readonly redactor: Redactor;
}

interface Subject extends Pick<Source, 'callLog' | 'redactor'> {
  readonly key: string;
}

interface SheetsOptions {
  /** The supported types of display segments (RT-DISPLAY). */
  readonly supports: ReadonlySet<string>;
  readonly highlighter: () => Highlighter | null;
  readonly marked: () => Compared | null;
  readonly isUnvalidated: (key: string) => boolean;
  readonly onChange: () => void;
}

class CallSheets {
  readonly #kept = new KeptSheets<CallTab>();

  constructor(private readonly options: SheetsOptions) {}

  sheetOf(tab: CallTab, subject: Subject, look: SheetLook): Sheet {
    const { callLog, key } = subject;
    return this.#kept.of(key, callLog, () => this.#sheetsOf(subject))[tab](look);
  }

  #sheetsOf({ callLog, key, redactor }: Subject): Record<CallTab, SheetOf> {
    const { highlighter, supports, onChange } = this.options;
    const story = new CallStory(callLog, key, redactor);
    const wire = callLog.whole === callLog ? story : new CallStory(callLog.whole, key, redactor); // a recording shows both sides
    const result = resultTab(story, supports);
    const compared = new Memo<Sheet>();
    const judge = () => this.#judge({ callLog, key, redactor });
    return {
      result: look => result({ ...look, highlighter: highlighter() }),
      compare: look => {
        const one = this.options.marked();
        const { exchange } = story;
        if (!one || !exchange || one.exchange.key === key) return COMPARE_HELP;
        const from = [one.exchange, exchange, look.isSplit, look.isUnfolded];
        return compared.of(from, () => comparedSheet(one, { exchange, redactor }, look));
      },
      ...callTabs({
        ...{ story, wire, redactor, highlighter, judge, onChange },
        views: () =>
          callLog.history.threads.get(story.exchange?.invocation.group_id ?? '')?.views.values() ?? [],
        noViews: 'the thread of this call has no views',
        age: () => callLog.of(key).length + callLog.of(null).length,
      }),
    };
  }

  async #judge({ callLog, key, redactor }: Subject): Promise<ProblemLines> {
    const exchange = callLog.history.exchanges.get(key);
    if (!exchange) return () => [];
    const { judgedLines } = await import('../../render/check-report.js');
    const isUnvalidated = !callLog.isSaved && this.options.isUnvalidated(key);
    return judgedLines(callLog.whole.concerning(exchange), exchange, redactor, callLog, isUnvalidated);
  }
}

const PENDING: Line = [say('PENDING', 'title'), say(' the steps so far', 'dim')];

/** A pane as a part, with the events of the call's subscription below it, if there is one. */
function withEvents(draw: (look: Look) => Part, lay: (news: News) => Document) {
  const events = joinedDocument([]);
  const parts = new Memo<Part>();
  return (look: Look, exchange: Exchange, news: readonly News[]): Part => {
    const part = draw(look);
    if (!exchange.subscription) return part;
    for (const each of news.slice(events.count)) events.add(() => lay(each));
    return parts.of([part, exchange.subscription], () => ({
      title: [...part.title, ...eventCount(exchange)],
      isStream: true,
      document:
        events.count === 0 ? part.document : joinedDocument([part.document, linesDocument([[]]), events]),
    }));
  };
}

/** The human's and the LLM's pane (RT-DISPLAY, RT-TEXT, RT-SUB); for a pending call, the steps so far. */
function resultTab(story: CallStory, supports: ReadonlySet<string>): (look: Look) => Sheet {
  const pending = new Memo<Sheet>();
  const drawings = new Memo<readonly ReturnType<typeof withEvents>[]>();
  /** Cached: the text in a pane may be 50 MiB. */
  const drawingsOf = (exchange: Exchange) => {
    const panes = panesOf(exchange, supports);
    if (!panes) return [];
    return [
      withEvents(panePart(panes.human), ({ line }) => linesDocument([line])),
      withEvents(panePart(panes.llm), ({ heading, text }) =>
        joinedDocument([linesDocument([heading]), textDocument(text)]),
      ),
    ];
  };
  return look => {
    const { exchange, entries, running, news } = story;
    if (!exchange?.settled) {
      const steps = () => [...entries.flatMap(each => each.steps), ...running].flatMap(stepLines);
      return pending.of([entries.length], () => onePart(PENDING, steps()));
    }
    const parts = drawings.of([exchange.settled], () => drawingsOf(exchange));
    return { parts: parts.map(partOf => partOf(look, exchange, news)) };
  };
}

const COMPARE_HELP = onePart(
  [say('COMPARE', 'title')],
  [[say('= marks this call; select another one and press = to compare them', 'dim')]],
);

/** Maximum length of a compared text, in characters: a diff of longer ones would take too long. */
const MAX_COMPARED = 200_000;

/** A diff of two calls: operation, arguments, time until the result, text for the LLM. */
function comparedSheet(one: Compared, other: Compared, look: SheetLook): Sheet {
  const ids = `${one.exchange.invocation.id} → ${other.exchange.invocation.id}`;
  const areSame = llmTextOf(one.exchange) === llmTextOf(other.exchange);
  const title = [say('COMPARE ', 'title'), ...quote(ids, 'dim'), say(areSame ? ' · same text' : '', 'good')];
  const [before, after] = [comparedText(one), comparedText(other)];
  if (before === after) return onePart(title, [[say('✓ ', 'good'), say('no difference')]]);
  const patch = patchOf('call', before, after);
  const parsed = parsePatch(patch);
  if (!parsed.ok) return onePart(title, [quote(parsed.reason, 'bad')]);
  const drawing = { kind: 'diff', path: 'call', raw: patch, diff: parsed.diff } as const;
  return {
    parts: [{ title, document: paneDocument({ notes: [], drawing }, { ...look, highlighter: null }) }],
  };
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

type ExchangeColumn = 'time' | 'operation' | 'args' | 'server' | 'id' | 'thread';

/**
 * A row for a call that this program made.
 * @param callLog contains the exchange
 * @param server of the call, if there are several
 */
function exchangeRow(
  exchange: Exchange,
  now: number,
  callLog: CallLog,
  server = '',
  redactor?: Redactor,
): CallView<ExchangeColumn> {
  const { operation, arguments: args, id, group_id } = exchange.invocation;
  // An expected or denied call was never sent.
  const begunAt = exchange.attempts[0]?.sentAt ?? callLog.of(exchange.key)[0]?.at ?? 0;
  const state = exchangeState(exchange, begunAt, now);
  const problems = hasProblems(exchange) && say('  ! see Problems', 'warn');
  return viewOf(
    { ...state, line: line`${state.line}${problems}` },
    {
      time: timeCell(begunAt),
      operation: clipped(operation),
      args: argsCell(args, redactor),
      server: clipped(server, 'dim'),
      id: idCell(id),
      thread: idCell(group_id),
    },
  );
}

function exchangeState(exchange: Exchange, begunAt: number, now: number): CallState {
  const { settled, waitingFor } = exchange;
  if (settled) {
    const outcome = outcomeOnce(exchange);
    const end = outcome?.type === 'success' ? MARKS.done : MARKS.failed;
    return {
      mark: isSubscribed(exchange) ? MARKS.running : end,
      line: line`${outcome && outcomeWords(outcome)}${took(settled.at - begunAt)}${eventCount(exchange)}`,
      isRunning: false,
    };
  }
  const asks = waitingFor?.type === 'oauth' ? 'asks for consent' : 'asks for a choice';
  return {
    mark: waitingFor ? MARKS.asking : MARKS.running,
    line: line`${waitingFor ? say(asks, 'warn') : dispatchWords(exchange)}${runningClock(now - begunAt)}`,
    isRunning: true,
  };
}

/** Whether the tool sent a callback that was refused or ignored; the Problems tab checks all requirements. */
const hasProblems = onceEach((exchange: Exchange) =>
  exchange.arrivals
    .flatMap(arrival => arrivalWarnings(arrival, exchange))
    .some(({ id }) => id === 'RT-VALIDATE' || id?.startsWith('TOOL-')),
);

/** Cached: the text that contains the outcome may be large. */
const outcomeOnce = onceEach(outcomeOf);

function dispatchWords(exchange: Exchange): Line {
  const last = exchange.attempts.at(-1);
  if (!last) return [say('expected', 'running')];
  if (acknowledgedAfter(exchange) !== null) return [say('acknowledged', 'running')];
  return last.endedAt === undefined ? [say('sent', 'running')] : notAcknowledged(last);
}

const ENDED_BY = { final: null, cancel: ', canceled', close: ', closed' } as const;

/** The number of subscription events: `, 12 events so far`, and how the subscription ended without a final event. */
function eventCount({ subscription }: Exchange): Line {
  if (!subscription) return [];
  const { events, ended } = subscription;
  const count = `, ${counted(events, 'event')}`;
  if (!ended) return [say(`${count} so far`, 'running')];
  const end = ENDED_BY[ended.by];
  return [say(count, 'dim'), ...(end === null ? [] : [say(end, 'warn')])];
}
