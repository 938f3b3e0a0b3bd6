import type { Event } from '../../events/events.js';
import { type Session, Sessions, statusOf } from '../../events/session-calls.js';
import { isTerminal } from '../../protocol/session.js';
import type { CallView } from '../../render/calls.js';
import { type Line, quote, say } from '../../render/line.js';
import {
  callBodies,
  callHead,
  type KnownCall,
  knownCalls,
  type SessionColumn,
  sessionCallRow,
  sessionNews,
} from '../../render/session-calls.js';
import { Memo } from '../../util/collections.js';
import { LIST_KEYS, ListDetail, type ListSource, READING_KEYS, type Visible } from '../calls/list-detail.js';
import { onePart } from '../calls/tabs.js';
import {
  type ServerScreen,
  type ServerScreenOptions,
  type ServerView,
  serverScreen,
} from '../full-screen/full-screen.js';
import { bind, type KeyBinding, type Place } from '../keys.js';
import { ListScreen, type ScreenOptions } from '../list-screen.js';
import { CALL_COLUMNS, type Column, tableLines } from '../table.js';

const COLUMNS: readonly Column<SessionColumn>[] = [
  CALL_COLUMNS.time,
  { name: 'session', title: 'SESSION', most: 16 },
  { name: 'tool', title: 'TOOL', most: 24 },
  CALL_COLUMNS.args,
  CALL_COLUMNS.id,
];

/** Calls of agent sessions as a table of `width` cells. @param ofOne of a single session: its id needs no column */
export function sessionTable(
  rows: readonly CallView<SessionColumn>[],
  selected: CallView<SessionColumn> | undefined,
  width: number,
  { ofOne }: { readonly ofOne: boolean },
): readonly Line[] {
  const columns = COLUMNS.filter(({ name }) => !ofOne || name !== 'session');
  const dispensable: readonly SessionColumn[] = ofOne
    ? ['id', 'args', 'time', 'args']
    : ['id', 'args', 'time', 'args', 'session'];
  return tableLines({ columns, dispensable }, rows, selected, width);
}

/** The platform that is shown. */
interface ShownPlatform {
  readonly url: string;
  /** The key for clients, made for this run; null where it must not be shown. */
  readonly key: string | null;
  /** The session that exists from the start. */
  readonly session: string;
}

const KEY = 'key ';

/** The key whole, on several rows where it must be: it is shown nowhere else. */
function keyLines(key: string, columns: number): readonly Line[] {
  const room = Math.max(1, columns - KEY.length);
  return Array.from({ length: Math.ceil(key.length / room) }, (_, row) => [
    say(row === 0 ? KEY : ' '.repeat(KEY.length), 'dim'),
    ...quote(key.slice(row * room, (row + 1) * room)),
  ]);
}

/** `2 sessions · 1 waiting for results · 1 ended · 4 calls` */
function tally(sessions: readonly Session[]): string {
  const count = (number: number, what: string) => `${number} ${what}${number === 1 ? '' : 's'}`;
  const statuses = sessions.map(session => statusOf(session) ?? '');
  const waiting = statuses.filter(status => status === 'awaiting_tool_results').length;
  const ended = statuses.filter(isTerminal).length;
  const calls = sessions.reduce((sum, session) => sum + session.calls.size + session.forgotten, 0);
  return [
    count(sessions.length, 'session'),
    ...(waiting > 0 ? [`${waiting} waiting for results`] : []),
    ...(ended > 0 ? [`${ended} ended`] : []),
    count(calls, 'call'),
  ].join(' · ');
}

interface PlatformOptions extends ScreenOptions {
  readonly platform: ShownPlatform;
  /** `q` or Ctrl-C, each time. The caller lets the platform end, then closes the screen. */
  readonly onQuit: () => void;
}

export const PLATFORM_KEYS: readonly KeyBinding<PlatformView>[] = [
  bind('everywhere', '?', '?', 'show or hide the keys', view => view.toggleHelp()),
  bind('everywhere', 'q ctrl+c', 'q Ctrl-C', 'quit', view => view.quit()),
  ...LIST_KEYS,
  ...READING_KEYS,
];

/** The calls of all sessions of a platform, in the order in which they were asked. */
export class PlatformView extends ListScreen implements ServerView {
  readonly list: ListDetail<'call'>;
  protected readonly bindings = PLATFORM_KEYS;
  readonly #platform: ShownPlatform;
  readonly #onQuit: () => void;
  readonly #sessions = new Sessions();
  /** By key, in order; null after an event. */
  #calls: ReadonlyMap<string, KnownCall> | null = null;
  readonly #bodies = new Memo<readonly Line[]>();

  constructor(options: PlatformOptions, onChange: () => void) {
    super(options, onChange);
    this.#platform = options.platform;
    this.#onQuit = options.onQuit;
    this.list = new ListDetail({
      title: 'Calls',
      theme: this.theme,
      tabs: [{ name: 'call', title: 'Call' }],
      source: () => this.#source(),
      ...{ wide: 120, share: 0.55 },
      say: text => this.notices.key(text, this.now),
    });
  }

  override event(event: Event): void {
    super.event(event);
    this.#sessions.apply(event);
    this.#calls = null;
    if (event.kind === 'awaiting' || event.kind === 'answered') return; // their rows say it
    const line = sessionNews(event, { sessions: this.#sessions });
    if (line) this.notices.event(line, this.now);
  }

  notice(text: string, isBad: boolean): void {
    this.notices.server(text, isBad ? 'bad' : 'good', this.now);
  }

  get summary(): string {
    return tally(this.#sessions.list);
  }

  quit(): void {
    this.#onQuit();
  }

  protected get places(): readonly Place[] {
    return [this.list.isReading ? 'reading' : 'list', 'everywhere'];
  }

  protected head(columns: number): readonly Line[] {
    const { url, key } = this.#platform;
    return [
      [say('session mock', 'title'), say('  '), say(url, 'running')],
      ...(key === null ? [] : keyLines(key, columns)),
      [say(tally(this.#sessions.list), 'dim')],
    ];
  }

  #source(): ListSource<'call'> {
    this.#calls ??= callsOf(this.#sessions.list);
    const calls = this.#calls;
    const keys = [...calls.keys()];
    const { url, session } = this.#platform;
    return {
      name: '',
      keys,
      indexOf: key => keys.indexOf(key),
      preselected: keys.length - 1,
      titleOf: key => `${calls.get(key)?.call.tool} ${calls.get(key)?.call.key}`,
      textOf: key => {
        const { call } = calls.get(key) ?? {};
        return `${call?.tool} ${call?.key} ${JSON.stringify(call?.args)}`;
      },
      headRows: 1,
      rows: (visible, columns) => this.#rows(visible, calls, columns),
      sheetOf: key => {
        const call = calls.get(key);
        return onePart([say('CALL', 'title')], call ? this.#linesOf(call) : []);
      },
      empty: [
        [say('No calls yet.')],
        [say('Give a client this URL, the session and the key, or answer from another terminal:', 'dim')],
        [
          say('  protocol-cli session answer ', 'dim'),
          say(url, 'running'),
          say(' '),
          ...quote(session),
          say(' --tool <url>', 'dim'),
        ],
      ],
    };
  }

  #rows({ keys, selected }: Visible, calls: ReadonlyMap<string, KnownCall>, columns: number) {
    const rows = keys.flatMap((key, index) => {
      const call = calls.get(key);
      return call ? [sessionCallRow(call, this.now, index === selected)] : [];
    });
    const ofOne = this.#sessions.list.length === 1;
    return {
      lines: sessionTable(rows, rows[selected], columns, { ofOne }),
      isRunning: rows.some(({ isRunning }) => isRunning),
    };
  }

  /** The bodies do not depend on the time. */
  #linesOf(known: KnownCall): readonly Line[] {
    return [...callHead(known, this.now), ...this.#bodies.of([known.call], () => callBodies(known))];
  }
}

function callsOf(sessions: readonly Session[]): ReadonlyMap<string, KnownCall> {
  const calls = sessions.flatMap(session => knownCalls(session));
  calls.sort((one, other) => one.call.askedAt - other.call.askedAt);
  return new Map(calls.map(known => [JSON.stringify([known.session.id, known.call.key]), known]));
}

interface PlatformScreenOptions extends PlatformOptions, ServerScreenOptions {}

/** The calls of a platform's sessions, full screen. Needs a terminal on both ends. */
export function platformScreen(options: PlatformScreenOptions): ServerScreen {
  return serverScreen(onChange => new PlatformView(options, onChange), options);
}
