import type { CallLog } from '../../events/call-log.js';
import { type Exchange, llmTextOf, openQuestions } from '../../events/exchange.js';
import { argsCell, idCell, timeCell, viewOf } from '../../render/calls.js';
import { clipped, type Line, line, pluralize, quote, say } from '../../render/line.js';
import { callSheets, MADE_CALL_TABS, type MadeCallTab, recentSheets } from '../calls/tabs.js';
import { CALL_COLUMNS, keysLine } from '../layout.js';
import { type List, tableOf, WITH_PANES } from '../list/list.js';
import type { Sheet } from '../reading/parts.js';
import { exchangeState, hasProblems, recordedState } from './call-state.js';
import { type Compared, compareWith } from './compare.js';
import { MadeCall } from './made-call.js';
import type { Model, Source } from './model.js';

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

export function callsList({
  model,
  source,
  now,
  marked,
  supports,
  onChange,
}: CallsOptions): Omit<List<Exchange, MadeCallTab>, 'highlighter'> {
  const recent = recentSheets<MadeCallTab>();
  const sheetsOf = (from: Source, key: string): Record<MadeCallTab, () => Sheet> => {
    const call = new MadeCall(from, key, supports, model);
    return { ...callSheets(call, onChange), compare: compareWith(call, from, marked) };
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
    isMarked: (exchange: Exchange, tab: MadeCallTab) => tab === 'problems' && hasProblems(exchange),
    ...tableOf(() => TABLE, rowOf),
    sheetOf({ key }: Exchange, tab: MadeCallTab): Sheet {
      const from = source();
      return recent.of(from.callLog.of(key), () => sheetsOf(from, key))[tab]();
    },
    empty(): readonly Line[] {
      const { isLive, name, callLog } = source();
      if (!isLive) return withoutCalls(name, callLog.whole.events.length);
      const how = ' shows the tools: choose an operation there, fill in its form, run it.';
      const others = model.sources.length > 1 ? [keysLine('Press ', 'V', ' for the next transcript.')] : [];
      return [line`No calls yet.`, [say('t', 'title'), say(how, 'dim')], ...others];
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
