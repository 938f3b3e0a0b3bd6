import type { Key } from 'ink';
import type { RecentCalls, RecentEvents } from '../../events/bounded-events.js';
import type { Event } from '../../events/events.js';
import type { ToolCall } from '../../events/tool-call.js';
import type { Tally } from '../../render/call-details.js';
import { type CallColumn, type CallView, callRow } from '../../render/calls.js';
import { type Line, say } from '../../render/line.js';
import { createTheme, type Theme } from '../../render/terminal/theme.js';
import { Highlighting, type Readable, SheetView } from '../calls/details.js';
import { type Browsing, browse, isReading, type Listed, missing, pinned } from '../calls/list.js';
import {
  CALL_COLUMNS,
  type CallsScene,
  type CallsShares,
  callsPage,
  callsSplit,
  otherTabs,
  type SeenCalls,
  type SeenTable,
  sheetSize,
  type Tabs,
  titlesWith,
} from '../calls/tabs.js';
import { frameOf, type Play, planOf, type ServerScreen, serverScreen } from '../full-screen/full-screen.js';
import {
  behindLine,
  type Hint,
  hintsLine,
  keyLines,
  lineTypedIn,
  nameOf,
  PAGE_ENDS,
  PAGE_HINTS,
  type Press,
  pressedOnPage,
  pressesIn,
  promptLine,
  stepPrompt,
} from '../keys.js';
import { Notices, reading, wrapLines } from '../layout.js';
import { layTable, type Table } from '../list.js';
import type { Size } from '../terminal.js';
import {
  type Command,
  commandOf,
  emptyLines,
  FIRST_STATE,
  FORGOTTEN,
  headLines,
  keyTables,
  Memory,
  type MockScreenOptions,
  type MockSessionOptions,
  type Overlay,
  perform,
  type ShownTool,
  type State,
} from './actions.js';
import { TABS, type Tab, TITLES, ToolSheets } from './tabs.js';

/** The calls that are remembered, and the one that is looked at. */
interface Looking {
  /** Oldest first. */
  readonly calls: readonly ToolCall[];
  /** -1 where none is. */
  readonly index: number;
  readonly call: ToolCall | undefined;
  /** The selected one is not remembered any more. */
  readonly isForgotten: boolean;
}

/** The newest call where it is followed; none where the selected one is forgotten: what is done is done to no other. */
function lookingAt({ selected }: Browsing, calls: readonly ToolCall[]): Looking {
  const index = selected === null ? calls.length - 1 : calls.findIndex(({ key }) => key === selected);
  return { calls, index, call: calls[index], isForgotten: selected !== null && index < 0 };
}

/** For search: operation, id, thread, and what answers it. */
function listedCalls({ calls, index }: Looking): Listed {
  return {
    ids: calls.map(({ key }) => key),
    selected: Math.max(0, index),
    textOf: at => {
      const { invocation, addressee, answeredBy } = calls[at] ?? {};
      return [invocation?.operation, addressee?.id, addressee?.group_id, answeredBy].join(' ');
    },
  };
}

type Name = CallColumn;

const TABLE: Table<Name> = {
  columns: [...CALL_COLUMNS, { name: 'answeredBy', title: 'ANSWERED BY', most: 22 }],
  dispensable: ['thread', 'id', 'answeredBy', 'time'],
};

/** Calls as a table of `width` cells; its first line is the head. */
function tableLines(
  rows: readonly CallView<CallColumn>[],
  selected: CallView<CallColumn> | undefined,
  width: number,
): readonly Line[] {
  return layTable(TABLE, rows, selected, width);
}

/** The rows of a list say much; who reads has the room. */
const SHARES: CallsShares = {
  list: { wide: 120, share: 0.58 },
  reading: { wide: 150, share: 0.42 },
};

/** The calls of a mock, as they are looked at. @param now ms since the start */
function callsSceneOf(
  { calls: { focus }, isPaused }: State,
  { calls, index }: Looking,
  tool: ShownTool,
  now: number,
): Omit<CallsScene, 'sheet' | 'tabs'> {
  return {
    count: calls.length,
    selected: index,
    focus,
    shares: SHARES,
    empty: emptyLines(tool),
    table: (seen, columns) => tableOf(calls, seen, columns, { now, isPaused }),
  };
}

function tableOf(
  calls: Looking['calls'],
  { from, to, selected }: SeenCalls,
  columns: number,
  { now, isPaused }: { readonly now: number; readonly isPaused: boolean },
): SeenTable {
  const rows = calls
    .slice(from, to)
    .map((call, row) => callRow(call, now, from + row === selected, isPaused));
  return {
    lines: tableLines(rows, rows[selected - from], columns),
    isRunning: rows.some(({ isRunning }) => isRunning),
  };
}

const ENDS: readonly Hint[] = [
  ['?', 'keys'],
  ['q', 'quit'],
];

/** The keys that matter now; as many as there is room for, and always how to see the others. */
function footLine({ overlay, calls, isPaused }: State, hasDiff: boolean, columns: number): Line {
  if (overlay?.kind === 'help') return hintsLine(PAGE_HINTS, PAGE_ENDS, columns);
  const doings: readonly Hint[] = [
    ['r', 'replay'],
    ['e', 'fire'],
    ['p', isPaused ? 'resume' : 'pause'],
    ['R', 'reload'],
  ];
  const hints = calls.focus === 'list' ? [...LIST, ...doings, FOLLOW] : [...footReading(hasDiff), ...doings];
  return hintsLine(hints, ENDS, columns);
}

const LIST: readonly Hint[] = [
  ['↑↓', 'select'],
  ['⏎', 'read'],
  [`1-${TABS.length}`, 'tabs'],
];
const FOLLOW: Hint = ['G', 'follow'];

function footReading(hasDiff: boolean): readonly Hint[] {
  return [
    ['↑↓', 'scroll'],
    ...(hasDiff ? ([[']', 'next hunk']] as const) : []),
    ['/', 'search'],
    ['Esc', 'list'],
  ];
}

/** What there is to see besides the state. */
interface Scene {
  readonly state: State;
  readonly looking: Looking;
  readonly tally: Tally;
  readonly notices: readonly Line[];
  /** Ms since the start. */
  readonly now: number;
}

/** Draws the calls of a mock, as a person looks at them. */
class Drawing {
  readonly sheet: SheetView<Tab>;
  readonly #tool: ShownTool;
  readonly #theme: Theme;
  readonly #highlighting: Highlighting;
  readonly #sheets: ToolSheets;
  readonly #events: RecentEvents;

  /** @param onChange something else is to be seen, though nothing happened */
  constructor(
    { tool, clock, level, supports }: Pick<MockSessionOptions, 'tool' | 'clock' | 'level' | 'supports'>,
    remembered: { readonly calls: RecentCalls; readonly events: RecentEvents },
    onChange: () => void,
  ) {
    this.#tool = tool;
    this.#events = remembered.events;
    this.#theme = createTheme(level);
    this.#highlighting = new Highlighting(level, onChange);
    const highlighter = () => this.#highlighting.current;
    this.#sheets = new ToolSheets({ ...remembered, clock, supports, highlighter, onChange });
    this.sheet = new SheetView(this.#theme);
  }

  /** The call that is looked at, to be read; null where there is none. */
  readable({ call }: Looking): Readable<Tab> | null {
    if (!call) return null;
    const { key } = call;
    return {
      name: key,
      sheetOf: (tab, look) => this.#sheets.sheetOf(tab, key, look),
      others: tab => otherTabs(TABS, TITLES, tab, this.#events.of(key)?.events ?? []),
    };
  }

  frame(scene: Scene, size: Size) {
    const { state, looking, tally, notices } = scene;
    const read = state.calls.focus === 'list' ? undefined : looking.call;
    const around = {
      head: headLines(this.#tool, tally, state.isPaused, read),
      notices,
      asked: () => null,
      foot: this.#footLine(state, looking, size),
    };
    const plan = planOf(around, size, this.#theme);
    const { rows, isRunning, most } = this.#page(scene, plan.body);
    return { rows: frameOf(plan, rows), body: plan.body, isRunning, most };
  }

  #page({ state, looking, now }: Scene, body: Size): Page {
    const theme = this.#theme;
    if (state.overlay?.kind === 'help') {
      const lines = wrapLines(keyLines(keyTables(state.calls.focus)), body.columns, theme);
      return { ...reading(lines, state.overlay.scroll, body.rows, theme), isRunning: false };
    }
    if (looking.call) this.#highlighting.ask();
    const sheet = (room: Size) =>
      looking.isForgotten
        ? wrapLines([[say(FORGOTTEN, 'warn')]], room.columns, theme)
        : this.sheet.rowsOf(state.calls, this.readable(looking), room);
    return {
      ...callsPage(
        { ...callsSceneOf(state, looking, this.#tool, now), tabs: this.#tabs(state, looking), sheet },
        body,
        theme,
      ),
      most: 0,
    };
  }

  #tabs({ calls: { tab } }: State, { call }: Looking): Tabs {
    const titles = call ? titlesWith(TITLES, this.#sheets.problemsOf(call.key)) : TITLES;
    return { titles, chosen: TABS.indexOf(tab) };
  }

  /** Nobody looks any more. */
  close(): void {
    this.#sheets.close();
  }

  #footLine(state: State, looking: Looking, size: Size): Line {
    const { overlay, calls } = state;
    if (overlay?.kind === 'search') return promptLine('/', overlay.prompt, size.columns);
    const hasDiff =
      calls.focus !== 'list' &&
      this.sheet.hasHunks(calls, this.readable(looking), sheetRoom(state, looking, size));
    return footLine(state, hasDiff, size.columns);
  }
}

/** A page: `most` is how far it can be scrolled as a whole. */
interface Page extends ReturnType<typeof callsPage> {
  readonly most: number;
}

/** The room of the sheet. */
function sheetRoom({ calls: { focus } }: State, { calls }: Looking, body: Size): Size {
  return sheetSize(callsSplit({ count: calls.length, focus, shares: SHARES }, body));
}

/** What is there after a press, and what else it asks for. */
interface Pressed {
  readonly overlay: Overlay | null;
  /** To be searched for now. */
  readonly wanted?: string;
  /** To be done now. */
  readonly command?: Command;
}

interface Beneath {
  readonly focus: State['calls']['focus'];
  /** How far the help can be scrolled. */
  readonly most: number;
}

/** What a press makes of what stands between a person and the calls. */
function pressOverlay(overlay: Overlay, press: Press, beneath: Beneath): Pressed {
  const name = nameOf(press);
  if (overlay.kind === 'help') return pressHelp(overlay, name, beneath);
  if (name === 'escape') return { overlay: null };
  if (name === 'enter') return { overlay: null, wanted: overlay.prompt.text };
  return { overlay: { ...overlay, prompt: stepPrompt(overlay.prompt, press) } };
}

/** Whoever reads of a key may press it: the help is gone then, and what it says is done. */
function pressHelp(
  help: Extract<Overlay, { kind: 'help' }>,
  name: string,
  { focus, most }: Beneath,
): Pressed {
  const pressed = pressedOnPage(name, help.scroll, most);
  if (typeof pressed === 'number') return { overlay: { ...help, scroll: pressed } };
  if (pressed === 'close') return { overlay: null };
  const command = commandOf(name, focus);
  return command ? { overlay: null, command } : { overlay: help };
}

/** What keys do to what is seen, and to the mock. */
export class Session implements Play {
  readonly #options: MockSessionOptions;
  readonly #memory: Memory;
  readonly #notices = new Notices();
  readonly #drawing: Drawing;
  #state = FIRST_STATE;
  /** The room of the page in the last frame: keys mean what was seen. */
  #body: Size = { columns: 80, rows: 20 };
  /** And how far it could be scrolled as a whole. */
  #most = 0;

  /** @param onChange something else is to be seen, though nothing was pressed and nothing happened */
  constructor(options: MockSessionOptions, onChange: () => void) {
    this.#options = options;
    this.#memory = new Memory(options.clock);
    this.#drawing = new Drawing(options, this.#memory, onChange);
  }

  event(event: Event): void {
    const line = this.#memory.take(event);
    if (line) this.#notices.event(line, this.#memory.now);
  }

  notice(text: string, isBad: boolean): void {
    this.#notices.mock(text, isBad ? 'bad' : 'good', this.#memory.now);
  }

  close(): void {
    this.#drawing.close();
  }

  get summary(): string {
    return this.#memory.summary;
  }

  press(input: string, key: Key): void {
    const press = { input, key };
    const isTyping = this.#state.overlay?.kind === 'search';
    for (const each of isTyping ? lineTypedIn(press) : pressesIn(press)) this.#press(each);
    if (isTyping) this.#notices.leftOut(behindLine(press), this.#memory.now);
  }

  frame(size: Size): { readonly rows: readonly string[]; readonly isRunning: boolean } {
    const { now, tally } = this.#memory;
    const scene = {
      state: this.#state,
      looking: this.#looking,
      tally,
      notices: this.#notices.lines(now),
      now,
    };
    const { rows, body, isRunning, most } = this.#drawing.frame(scene, size);
    this.#body = body;
    this.#most = most;
    return { rows, isRunning: isRunning || this.#notices.isPassing(now) };
  }

  get #looking(): Looking {
    return lookingAt(this.#state.calls, this.#memory.calls.list);
  }

  #press(press: Press): void {
    const { overlay, calls } = this.#state;
    if (nameOf(press) === 'ctrl+c') this.#command('quit');
    else if (overlay) {
      const beneath = { focus: calls.focus, most: this.#most };
      const { wanted, command, ...change } = pressOverlay(overlay, press, beneath);
      this.#change(change);
      if (wanted !== undefined) this.#search(wanted);
      this.#command(command);
    } else this.#command(commandOf(nameOf(press), calls.focus));
  }

  #command(command: Command | undefined): void {
    if (command === undefined) return;
    this.#notices.moved();
    const { controls } = this.#options;
    const { call, isForgotten } = this.#looking;
    const done = perform(command, { controls, state: this.#state, call, isForgotten });
    if (done) {
      this.#change(done.change ?? {});
      this.#tell(done.said);
    } else if (command === 'help') this.#change({ overlay: { kind: 'help', scroll: 0 } });
    else if (command === 'search')
      this.#change({ overlay: { kind: 'search', prompt: { text: '', cursor: 0 } } });
    else if (isReading(command, this.#state.calls.focus)) this.#read(command);
    else this.#browse(command);
  }

  #read(command: Parameters<Drawing['sheet']['step']>[0]): void {
    const looking = this.#looking;
    const { calls } = this.#state;
    const readable = this.#drawing.readable(looking);
    this.#tell(this.#drawing.sheet.step(command, calls, readable, this.#roomFor(looking)));
    this.#change({ calls: pinned(calls, listedCalls(looking)) });
  }

  #browse(command: Command): void {
    const looking = this.#looking;
    const { calls } = this.#state;
    const parts = this.#drawing.sheet.partsOf(calls, this.#drawing.readable(looking), this.#roomFor(looking));
    const listed = listedCalls(looking);
    if (command === 'nextMatch' || command === 'previousMatch') this.#tell(missing(listed, calls.wanted));
    this.#change({ calls: browse(calls, command, { calls: listed, parts, tabs: TABS }) });
  }

  #search(wanted: string): void {
    const looking = this.#looking;
    const { calls } = this.#state;
    const readable = this.#drawing.readable(looking);
    if (calls.focus !== 'list') {
      this.#tell(this.#drawing.sheet.search(wanted, calls, readable, this.#roomFor(looking)));
      return;
    }
    this.#change({ calls: { ...calls, wanted } });
    this.#command('nextMatch');
  }

  #roomFor(looking: Looking): Size {
    return sheetRoom(this.#state, looking, this.#body);
  }

  #change(change: Partial<State>): void {
    this.#state = { ...this.#state, ...change };
  }

  #tell(said: string | null): void {
    if (said !== null) this.#notices.key(said, this.#memory.now);
  }
}

/** The calls of a mock, full screen: it listens, and never keeps the mock waiting. Needs a terminal on both ends. */
export function mockScreen(options: MockScreenOptions): ServerScreen {
  return serverScreen(onChange => new Session(options, onChange), options);
}
