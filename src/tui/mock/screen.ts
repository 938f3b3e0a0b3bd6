import { RecentCalls, RecentEvents } from '../../events/bounded-events.js';
import type { Event } from '../../events/events.js';
import type { ToolCall } from '../../events/tool-call.js';
import { counted, type Line, lineText, quote, say } from '../../render/line.js';
import { cutLine } from '../../render/terminal/theme.js';
import { type CallColumn, callName, callRow, newsOf } from '../../render/tool-calls.js';
import { Highlighting } from '../calls/highlighting.js';
import {
  BYTES_KEY,
  LIST_KEYS,
  ListDetail,
  type ListSource,
  MOST_SEARCHED,
  READING_KEYS,
  tabKeys,
  unlessEmpty,
  type Visible,
  WITH_PANES,
} from '../calls/list-detail.js';
import {
  type ServerScreen,
  type ServerScreenOptions,
  type ServerView,
  serverScreen,
} from '../full-screen/full-screen.js';
import { bind, type KeyBinding, type Place } from '../keys.js';
import { ListScreen, type ScreenOptions } from '../list-screen.js';
import { CALL_COLUMNS, type Table, tableLines } from '../table.js';
import { TABS, type Tab, ToolSheets } from './tabs.js';

/** The mock that is shown. */
interface ShownTool {
  readonly name: string;
  readonly url: string;
  readonly seed: string;
  /** The number of fixtures. */
  readonly fixtures: number;
}

/** What the user can make the mock do. */
interface MockControls {
  readonly pause: () => void;
  readonly resume: () => void;
  /** Sends the last callback of a call again; false if absent. */
  readonly redeliver: (key: string) => boolean;
  /** Sends what the calls with this id in this thread wait for; returns how many there were. */
  readonly fire: (id: string, groupId: string) => number;
  /** Reads the fixture files again, and reports the result as a notice. */
  readonly reload: () => void;
  /** `q` or Ctrl-C, each time. The caller lets the mock end, then closes the screen. */
  readonly quit: () => void;
}

interface MockOptions extends ScreenOptions {
  readonly tool: ShownTool;
  readonly controls: MockControls;
  /** The types of display segments that are drawn (RT-DISPLAY). */
  readonly supports: ReadonlySet<string>;
}

const TABLE: Table<CallColumn> = {
  columns: [
    CALL_COLUMNS.time,
    CALL_COLUMNS.operation,
    CALL_COLUMNS.args,
    CALL_COLUMNS.id,
    CALL_COLUMNS.thread,
    { name: 'answeredBy', title: 'ANSWERED BY', most: 22 },
  ],
  dispensable: ['thread', 'id', 'args', 'answeredBy', 'time', 'args'],
};

/** A longer name would leave no room for the URL. */
const MOST_NAME = 16;
const GONE = 'The selected call is no longer remembered: ↑ and ↓ select another, G the newest.';

/** Every key of the screen but those that type. */
export const MOCK_KEYS: readonly KeyBinding<MockView>[] = [
  bind('everywhere', 'p', 'p', 'pause or resume deliveries', mock => mock.pause(), ['p', 'pause/resume']),
  bind('everywhere', 'R', 'R', 'reload the fixture files', mock => mock.controls.reload(), ['R', 'reload']),
  bind('everywhere', '?', '?', 'show or hide the keys', mock => mock.toggleHelp()),
  bind('everywhere', 'q ctrl+c', 'q Ctrl-C', 'quit: pending deliveries are sent first', mock => mock.quit()),
  ...LIST_KEYS,
  ...tabKeys('calls', TABS),
  BYTES_KEY,
  bind<MockView>(
    'calls',
    'r',
    'r',
    'send the last callback again',
    mock => mock.replay(),
    unlessEmpty('r', 'replay'),
  ),
  bind<MockView>(
    'calls',
    'e',
    'e',
    'send what the call waits for: an event, a consent, the default choice',
    mock => mock.fire(),
    unlessEmpty('e', 'fire'),
  ),
  ...READING_KEYS,
];

/** What happened so far: of all calls, also of those that are no longer remembered. */
class Tally {
  #calls = 0;
  #unmatched = 0;
  #undelivered = 0;

  apply(event: Event): void {
    if (event.kind === 'request' && event.purpose === 'invocation' && event.attempt === 1) this.#calls++;
    if (event.kind === 'matched' && event.fixture === null) this.#unmatched++;
    if (event.kind === 'dropped' && event.what === 'callback') this.#undelivered += event.count;
  }

  /** `12 calls · 1 unmatched · 2 undelivered` */
  get line(): Line {
    const found = (count: number, what: string, tone: 'warn' | 'bad') =>
      count > 0 ? [say(' · ', 'dim'), say(`${count} ${what}`, tone)] : [];
    return [
      say(counted(this.#calls, 'call'), 'dim'),
      ...found(this.#unmatched, 'unmatched', 'warn'),
      ...found(this.#undelivered, 'undelivered', 'bad'),
    ];
  }
}

/** The calls of a mock. */
export class MockView extends ListScreen implements ServerView {
  readonly list: ListDetail<Tab>;
  isPaused = false;
  readonly controls: MockControls;
  protected readonly bindings = MOCK_KEYS;
  readonly #tool: ShownTool;
  readonly #calls = new RecentCalls();
  /** Null after an event. */
  #keys: readonly string[] | null = null;
  readonly #events = new RecentEvents();
  readonly #sheets: ToolSheets;
  readonly #highlighting: Highlighting;
  readonly #tally = new Tally();

  constructor(options: MockOptions, onChange: () => void) {
    super(options, onChange);
    const { tool, controls, level, supports } = options;
    this.#tool = tool;
    this.controls = controls;
    this.#highlighting = new Highlighting(level, onChange);
    const highlighter = () => this.#highlighting.current;
    this.#sheets = new ToolSheets({
      calls: this.#calls,
      events: this.#events,
      supports,
      highlighter,
      onChange,
    });
    this.list = new ListDetail({
      title: 'Calls',
      theme: this.theme,
      tabs: TABS,
      source: () => this.#source(),
      ...WITH_PANES,
      say: text => this.notices.key(text, this.now),
    });
  }

  override event(event: Event): void {
    super.event(event);
    this.#calls.apply(event);
    this.#keys = null;
    this.#events.apply(event);
    this.#tally.apply(event);
    const line = event.calls?.length ? null : newsOf(event, undefined);
    if (line) this.notices.event(line, this.now);
  }

  notice(text: string, isBad: boolean): void {
    this.notices.server(text, isBad ? 'bad' : 'good', this.now);
  }

  get summary(): string {
    return lineText(this.#tally.line);
  }

  pause(): void {
    this.isPaused = !this.isPaused;
    if (this.isPaused) this.controls.pause();
    else this.controls.resume();
    this.#say(this.isPaused ? 'Deliveries are held back until p is pressed again.' : 'Deliveries go on.');
  }

  replay(): void {
    const call = this.#selected('replay');
    if (call)
      this.#say(
        this.controls.redeliver(call.key)
          ? 'The last callback of the call is sent once more.'
          : 'The call has no callback that could be sent again.',
      );
  }

  fire(): void {
    const { addressee } = this.#selected('fire') ?? {};
    if (addressee)
      this.#say(
        this.controls.fire(addressee.id, addressee.group_id) > 0
          ? 'Sent.'
          : 'The call waits for nothing that could be sent.',
      );
  }

  quit(): void {
    this.controls.quit();
    this.#say('Ending: pending deliveries are sent first.');
  }

  protected get places(): readonly Place[] {
    return [this.list.isReading ? 'reading' : 'list', 'calls', 'everywhere'];
  }

  /** A reader on a small screen sees no list: the call is named here. */
  protected head(): readonly Line[] {
    const { name, url, seed, fixtures } = this.#tool;
    const call = this.list.isReading ? this.#call : undefined;
    const paused = this.isPaused ? [say('‖ deliveries are held back', 'warn'), say(' · ', 'dim')] : [];
    const count = `${fixtures} ${fixtures === 1 ? 'fixture' : 'fixtures'}`;
    return [
      [
        ...cutLine(quote(name, 'title'), MOST_NAME),
        say('  '),
        say(url, 'running'),
        ...(call ? [say('  '), ...callName(call)] : []),
      ],
      [...paused, ...this.#tally.line, say(` · ${count} · seed `, 'dim'), ...quote(seed, 'dim')],
    ];
  }

  get #call(): ToolCall | undefined {
    return this.#calls.get(this.list.selected ?? '');
  }

  #selected(action: string): ToolCall | undefined {
    const call = this.#call;
    if (!call) this.#say(this.#calls.list.length === 0 ? `No call to ${action}.` : GONE);
    return call;
  }

  #say(text: string): void {
    this.notices.key(text, this.now);
  }

  #source(): ListSource<Tab> {
    this.#keys ??= this.#calls.list.map(({ key }) => key);
    const keys = this.#keys;
    if (keys.length > 0) this.#highlighting.ask();
    return {
      name: '',
      keys,
      indexOf: key => keys.indexOf(key),
      preselected: keys.length - 1,
      titleOf: key => {
        const { invocation, addressee } = this.#calls.get(key) ?? {};
        return `${invocation?.operation ?? 'a call'} ${addressee?.id ?? ''}`;
      },
      gone: GONE,
      textOf: key => {
        const { invocation, addressee, answeredBy, deliveries = [] } = this.#calls.get(key) ?? {};
        const { operation, arguments: args } = invocation ?? {};
        const sent = deliveries.map(({ body }) => body?.text?.slice(0, MOST_SEARCHED));
        return [
          operation,
          JSON.stringify(args),
          addressee?.id,
          addressee?.group_id,
          answeredBy,
          ...sent,
        ].join(' ');
      },
      headRows: 1,
      rows: (visible, columns) => this.#rows(visible, columns),
      sheetOf: (key, tab, look) => this.#sheets.sheetOf(tab, key, look),
      empty: [
        [say('No calls yet.')],
        [say('Give a runtime this URL, or try it from another terminal, by hand:', 'dim')],
        [say('  protocol-cli invoke -i ', 'dim'), say(this.#tool.url, 'running')],
      ],
    };
  }

  #rows({ keys, selected }: Visible, columns: number) {
    const rows = keys.flatMap((key, index) => {
      const call = this.#calls.get(key);
      return call ? [callRow(call, this.now, index === selected, this.isPaused)] : [];
    });
    return {
      lines: tableLines(TABLE, rows, rows[selected], columns),
      isRunning: rows.some(({ isRunning }) => isRunning),
    };
  }
}

interface MockScreenOptions extends MockOptions, ServerScreenOptions {}

/** The calls of a mock, full screen. It only listens, and never keeps the mock waiting. Needs a terminal on both ends. */
export function mockScreen(options: MockScreenOptions): ServerScreen {
  return serverScreen(onChange => new MockView(options, onChange), options);
}
