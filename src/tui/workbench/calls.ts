import { type Exchange, llmTextOf, openQuestions } from '../../events/exchange.js';
import type { CallLog, LoadedToolset } from '../../events/history.js';
import type { UserChoice } from '../../protocol/callbacks.js';
import { type ExchangeColumn, exchangeRow } from '../../render/calls.js';
import { type Line, quote, say } from '../../render/line.js';
import { type ListSource, MOST_SEARCHED, type Visible } from '../calls/list-detail.js';
import { CALL_COLUMNS, type Table, tableLines } from '../table.js';
import type { Volume, World } from './model.js';
import type { CallSheets, Tab } from './tabs.js';

const TABLE: Table<ExchangeColumn> = {
  columns: [
    CALL_COLUMNS.time,
    CALL_COLUMNS.operation,
    CALL_COLUMNS.args,
    { name: 'server', title: 'SERVER', most: 24 },
    CALL_COLUMNS.id,
    CALL_COLUMNS.thread,
  ],
  dispensable: ['thread', 'id', 'args', 'server', 'time', 'args'],
};

interface CallsOptions {
  readonly world: World;
  readonly volume: Volume;
  readonly sheets: CallSheets;
  /** The ms since the start. */
  readonly now: number;
}

/** The calls of this session, or of a transcript. */
export function callsSource({ world, volume, sheets, now }: CallsOptions): ListSource<Tab> {
  const { book, isLive, redactor } = volume;
  const exchangeOf = (key: string) => book.history.exchanges.get(key);
  // What was recorded is shown as it was at its end.
  const at = isLive ? now : (book.whole.events.at(-1)?.at ?? 0);
  const rows = ({ keys, selected }: Visible, columns: number) => {
    const serverOf = serverNames(volume, world);
    const shown = keys.flatMap(key => {
      const exchange = exchangeOf(key);
      return exchange ? [exchangeRow(exchange, at, book, serverOf?.(exchange), redactor)] : [];
    });
    return {
      lines: tableLines(TABLE, shown, shown[selected], columns),
      isRunning: isLive && shown.some(({ isRunning }) => isRunning),
    };
  };
  return {
    name: `${volume.id}`,
    keys: book.keys,
    indexOf: key => book.placeOf(key),
    preselected: book.keys.length - 1,
    titleOf: key => {
      const { operation = '', id = '' } = exchangeOf(key)?.invocation ?? {};
      return `${operation} ${id}`;
    },
    textOf: key => {
      const exchange = exchangeOf(key);
      if (!exchange) return '';
      const { operation, id, group_id, arguments: args } = exchange.invocation;
      const result = llmTextOf(exchange)?.slice(0, MOST_SEARCHED);
      return [operation, id, group_id, JSON.stringify(args), result].join(' ');
    },
    headRows: 1,
    rows,
    sheetOf: (key, tab, look) => sheets.sheetOf(tab, { book, redactor, key }, look),
    empty: isLive ? NO_CALLS_YET : withoutCalls(volume.name, book.whole.events.length),
  };
}

const NO_CALLS_YET: readonly Line[] = [
  [say('No calls yet.')],
  [say('t', 'title'), say(' shows the tools: choose an operation there, fill in its form, run it.', 'dim')],
];

function withoutCalls(name: string, events: number): readonly Line[] {
  const held =
    events === 0
      ? 'It holds no event: it ends before anything happened, or was cut there.'
      : `It holds ${events === 1 ? '1 event' : `${events} events`}, none an invocation: protocol-cli render shows them.`;
  return [
    [say('No calls in '), ...quote(name, 'title'), say('.')],
    [say(held, 'dim')],
    [
      say('V', 'title'),
      say(' shows the next transcript, ', 'dim'),
      say('O', 'title'),
      say(' opens another one.', 'dim'),
    ],
  ];
}

/** Names the server of a call; null where all calls are of the same server. */
function serverNames(
  { isLive, book }: Volume,
  { servers, serverOf }: World,
): ((exchange: Exchange) => string) | null {
  const { toolsets } = book.history;
  const ready = servers.filter(({ state }) => state.kind === 'ready');
  if (isLive ? ready.length < 2 : isOne(toolsets)) return null;
  return ({ key, endpoint }) => {
    const id = isLive ? serverOf(key) : null;
    const about = servers.find(server => server.id === id)?.about;
    const base = toolsets.findLast(each => each.endpoint === endpoint)?.base; // the server may be closed
    return (about ?? base ?? endpoint).replace(/^http:\/\//, '');
  };
}

/** In a transcript, an address is a server. */
function isOne(toolsets: readonly LoadedToolset[]): boolean {
  const [first] = toolsets;
  return toolsets.every(({ base, endpoint }) => base === first?.base && endpoint === first?.endpoint);
}

/** A choice that a tool waits for. */
interface OpenChoice {
  readonly key: string;
  readonly leg: string;
  readonly question: UserChoice;
}

/** The open choice of this call, else the oldest of all calls. */
export function openChoice(key: string | null, { history, underWay }: CallLog): OpenChoice | null {
  for (const each of key === null ? underWay : [key, ...underWay]) {
    const exchange = history.exchanges.get(each);
    for (const { leg, message } of exchange ? openQuestions(exchange) : [])
      if (message.type === 'user_choice') return { key: each, leg, question: message };
  }
  return null;
}
