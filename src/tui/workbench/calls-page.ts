import type { Exchange } from '../../events/exchange.js';
import type { LoadedToolset } from '../../events/history.js';
import { type CallView, type ExchangeColumn, exchangeRow } from '../../render/calls.js';
import { type Line, quote, say } from '../../render/line.js';
import {
  CALL_COLUMNS,
  type CallsScene,
  type CallsShares,
  callsSplit,
  type SeenCalls,
  type SeenTable,
  sheetSize,
  titlesWith,
} from '../calls/tabs.js';
import { type Hint, hintsLine, PAGE_ENDS, PAGE_HINTS } from '../keys.js';
import { type Column, layTable } from '../list.js';
import type { Size } from '../terminal.js';
import type { Stage } from './keys.js';
import type { Server, World } from './model.js';
import { type Entry, entriesOf, entryIndex, type Looking, type Purpose, type State } from './state.js';
import { TABS, TITLES, type Verdict } from './tabs.js';

type Name = ExchangeColumn;

const [TIME, OPERATION, ...OTHERS] = CALL_COLUMNS;
const COLUMNS: readonly Column<Name>[] = [
  TIME,
  OPERATION,
  { name: 'server', title: 'SERVER', most: 24 },
  ...OTHERS,
  { name: 'broken', title: 'BROKEN', most: 12 },
];
const DISPENSABLE: readonly Name[] = ['thread', 'id', 'time', 'server'];
/** Where there is nothing in them, they are left out. */
const SELDOM: ReadonlySet<Name> = new Set<Name>(['server', 'broken']);

/** Calls as a table of `width` cells; its first line is the head. */
function callsTable(
  rows: readonly CallView<ExchangeColumn>[],
  selected: CallView<ExchangeColumn> | undefined,
  width: number,
): readonly Line[] {
  const isThere = (name: Name) => rows.some(({ cells }) => cells[name].length > 0);
  const columns = COLUMNS.filter(({ name }) => !SELDOM.has(name) || isThere(name));
  const dispensable = DISPENSABLE.filter(name => columns.some(column => column.name === name));
  return layTable({ columns, dispensable }, rows, selected, width);
}

/** What is said where there is no call: how to make one, or what a transcript has instead. */
function emptyLines({ volume, book }: Looking): readonly Line[] {
  return volume.isLive ? NO_CALLS_YET : withoutCalls(volume.name, book.whole.events.length);
}

const NO_CALLS_YET: readonly Line[] = [
  [say('No calls yet.')],
  [say('t', 'title'), say(' shows the tools: choose an operation there, fill in its form, run it.', 'dim')],
];

function withoutCalls(name: string, events: number): readonly Line[] {
  return [
    [say('No calls in '), ...quote(name, 'title'), say('.')],
    [say(events === 0 ? NOTHING : besides(events), 'dim')],
    [
      say('V', 'title'),
      say(' goes on to the next one that is open, ', 'dim'),
      say('O', 'title'),
      say(' opens another transcript.', 'dim'),
    ],
  ];
}

const NOTHING = 'It holds no event: it ends before anything happened, or was cut there.';

function besides(events: number): string {
  const count = events === 1 ? '1 event' : `${events} events`;
  return `It holds ${count}, none an invocation: protocol-cli render tells what they are.`;
}

/** The server that a call was made by, as it is named. */
type ServerName = (exchange: Exchange) => string;

/** Null where there was one server alone, as a person knows it: every call is made by that. */
function serverNames({ volume, book }: Looking, world: World): ServerName | null {
  const { servers, serverOf } = world;
  const { toolsets } = book.history;
  if (volume.isLive ? world.names.size < 2 : isOne(toolsets)) return null;
  return ({ key, endpoint }) => {
    const id = volume.isLive ? serverOf(key) : null;
    const about = servers.find(server => server.id === id)?.about;
    return briefly(about ?? baseOf(endpoint, toolsets));
  };
}

/** Where the events alone are known, an address is a server. */
function isOne(toolsets: readonly LoadedToolset[]): boolean {
  const [first] = toolsets;
  return toolsets.every(({ base, endpoint }) => base === first?.base && endpoint === first?.endpoint);
}

/** Of one that is not open, where its toolset was loaded. */
function baseOf(endpoint: string, toolsets: readonly LoadedToolset[]): string {
  return toolsets.findLast(each => each.endpoint === endpoint)?.base ?? endpoint;
}

/** Most addresses begin alike. */
function briefly(name: string): string {
  return name.replace(/^http:\/\//, '');
}

/** The rows of a list say much; who reads has the room. */
const SHARES: CallsShares = {
  list: { wide: 150, share: 0.42 },
  reading: { wide: 150, share: 0.34 },
};

/** What is seen of calls besides how one looks at them. */
interface SeenOf {
  readonly looking: Looking;
  readonly world: World;
  /** Of the call with this key, as far as it is known by now. */
  readonly verdictOf: (key: string) => Verdict;
  readonly now: number;
}

/** The calls of a volume, as they are looked at. */
export function callsSceneOf(
  { focus, tab }: State['calls'],
  { looking, world, verdictOf, now }: SeenOf,
): Omit<CallsScene, 'sheet'> {
  const { book, key } = looking;
  const { keys } = book;
  const serverOf = serverNames(looking, world);
  const titles = key === null ? TITLES : titlesWith(TITLES, verdictOf(key));
  return {
    count: keys.length,
    selected: key === null ? 0 : book.placeOf(key),
    focus,
    tabs: { titles, chosen: TABS.indexOf(tab) },
    shares: SHARES,
    empty: emptyLines(looking),
    table: (seen, columns) => tableOf({ book, serverOf, verdictOf, now }, seen, columns),
  };
}

/** What calls are told with. */
interface Telling extends Pick<Looking, 'book'>, Pick<SeenOf, 'verdictOf' | 'now'> {
  readonly serverOf: ServerName | null;
}

function tableOf(
  { book, serverOf, verdictOf, now }: Telling,
  { from, to, selected }: SeenCalls,
  columns: number,
): SeenTable {
  const rows = book.keys.slice(from, to).flatMap(each => {
    const exchange = book.history.exchanges.get(each);
    if (!exchange) return [];
    const { musts } = verdictOf(each);
    return [exchangeRow(exchange, now, book, { server: serverOf?.(exchange), musts })];
  });
  return {
    lines: callsTable(rows, rows[selected - from], columns),
    isRunning: rows.some(({ isRunning }) => isRunning),
  };
}

/** The keys of the Tools page, with this row selected, if there is one. */
function toolsHints(entry: Entry | undefined): readonly Hint[] {
  return [
    ...(entry ? ([['↑↓', 'select'], ...entryHints(entry)] as const) : []),
    ['c', 'calls'],
    ['u', 'open a URL'],
    ...(entry ? ([['/', 'search']] as const) : []),
  ];
}

function entryHints(entry: Entry): readonly Hint[] {
  if (entry.kind === 'server') return SERVER_HINTS[entry.server.state.kind];
  return entry.rivals > 1 ? [] : [['⏎', 'fill in']];
}

const SERVER_HINTS: Readonly<Record<Server['state']['kind'], readonly Hint[]>> = {
  loading: [],
  asleep: [['⏎', 'start it']],
  ready: [['⏎', 'ask again']],
  failed: [
    ['⏎', 'ask again'],
    ['x', 'take out'],
  ],
};

const ENDS: readonly Hint[] = [
  ['?', 'keys'],
  ['q', 'quit'],
];
const TYPING: readonly Hint[] = [
  ['Ctrl-G', 'keys'],
  ['Esc', 'back'],
  ['Ctrl-C', 'quit'],
];

/** What matters now of what is selected: of the row of tools, and of the call. */
export interface Matters {
  readonly entry: Entry | undefined;
  readonly asks: boolean;
  readonly hasPage: boolean;
  readonly isRunning: boolean;
  readonly hasDiff: boolean;
}

/** The keys that matter now; as many as there is room for, and always how to see the others. */
export function footLine(state: State, matters: Matters, columns: number): Line {
  if (state.overlay?.kind === 'help' || state.overlay?.kind === 'copied')
    return hintsLine(PAGE_HINTS, PAGE_ENDS, columns);
  if (state.page === 'form')
    return hintsLine(
      [
        ['Ctrl-R', 'run'],
        ['Ctrl-E', 'JSON'],
        ['↑↓', 'field'],
      ],
      TYPING,
      columns,
    );
  if (state.page === 'tools') return hintsLine(toolsHints(matters.entry), ENDS, columns);
  const first = pressing(matters);
  const hints = state.calls.focus === 'list' ? LIST : readingHints(matters);
  return hintsLine([...first, ...hints], ENDS, columns);
}

const LIST: readonly Hint[] = [
  ['↑↓', 'select'],
  ['⏎', 'read'],
  ['1-5', 'tabs'],
  ['r', 'run again'],
  ['e', 'edit'],
  ['y', 'curl'],
  ['s', 'fixture'],
  ['t', 'tools'],
];

function readingHints({ hasDiff }: Matters): readonly Hint[] {
  return [
    ['↑↓', 'scroll'],
    ...(hasDiff ? ([[']', 'next hunk']] as const) : []),
    ['/', 'search'],
    ['Tab', 'pane'],
    ['m', 'alone'],
    ['Esc', 'list'],
    ['y', 'curl'],
    ['s', 'fixture'],
  ];
}

/** What somebody waits for comes first. */
function pressing({ asks, hasPage, isRunning }: Matters): readonly Hint[] {
  return [
    ...(asks ? ([['a', 'answer']] as const) : []),
    ...(hasPage ? ([['o', 'consent page']] as const) : []),
    ...(isRunning ? ([['x', 'cancel']] as const) : []),
  ];
}

/** Before what is typed. */
export const PROMPTS: Readonly<Record<Purpose, string>> = {
  server: 'Tool server (URL, :port or demo): ',
  transcript: 'Open transcript: ',
  'save-transcript': 'Save the transcript as: ',
  'save-fixture': 'Save as fixture: ',
  search: '/',
};

/** What keys are pressed upon, as it is now. */
export function stageOf(state: State, { servers, volumes }: World, looking: Looking, parts: number): Stage {
  const entries = entriesOf(servers);
  const { keys, history } = looking.book;
  return {
    entries: {
      ids: entries.map(({ id }) => id),
      selected: entryIndex(entries, state.tools.selected),
      textOf: index => {
        const entry = entries[index];
        return entry?.kind === 'operation'
          ? `${entry.tool.name} ${entry.tool.description}`
          : (entry?.server.about ?? '');
      },
    },
    calls: {
      ids: keys,
      selected: looking.key === null ? 0 : looking.book.placeOf(looking.key),
      textOf: index => {
        const exchange = history.exchanges.get(keys[index] ?? '');
        return exchange ? Object.values(exchange.invocation).filter(isText).join(' ') : '';
      },
    },
    volumes: volumes.map(({ id }) => id),
    parts,
  };
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** The room of the sheet on the page of calls. */
export function sheetRoom({ calls }: State, { book }: Looking, body: Size): Size {
  return sheetSize(callsSplit({ count: book.keys.length, focus: calls.focus, shares: SHARES }, body));
}
