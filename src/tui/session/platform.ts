import type { Event } from '../../events/events.js';
import { type Session, Sessions, statusOf } from '../../events/session-calls.js';
import { isTerminal } from '../../protocol/session.js';
import { type Line, line, pluralize, quote, say } from '../../render/line.js';
import {
  callBodies,
  callHead,
  type KnownCall,
  knownCalls,
  sessionCallRow,
} from '../../render/session-calls.js';
import { widthOf } from '../../render/terminal/fit.js';
import { newsOf } from '../../render/tool-news.js';
import { Memo } from '../../util/collections.js';
import { type ListDetail, tableOf } from '../calls/list-detail.js';
import { onePart } from '../document/documents.js';
import { type FullScreenOptions, fullScreen } from '../full-screen.js';
import { bind, Keys } from '../keys.js';
import { CALL_COLUMNS, type Table } from '../layout.js';
import { LIST_KEYS, ListScreen, READING_KEYS, type ScreenOptions } from '../list-screen.js';

type SessionColumn = Exclude<keyof ReturnType<typeof sessionCallRow>['cells'], 'state'>;

const OF_SEVERAL: Table<SessionColumn> = {
  columns: [
    CALL_COLUMNS.time,
    { name: 'session', title: 'SESSION', max: 16 },
    { name: 'tool', title: 'TOOL', max: 24 },
    CALL_COLUMNS.args,
    CALL_COLUMNS.id,
  ],
  dispensable: ['id', 'args', 'time', 'args', 'session'],
};

export const CALLS_OF_ONE: Table<SessionColumn> = {
  columns: OF_SEVERAL.columns.filter(({ name }) => name !== 'session'),
  dispensable: ['id', 'args', 'time', 'args'],
};

interface ShownPlatform {
  readonly url: string;
  /** The API key for clients, generated for this run; null if it must not be shown. */
  readonly key: string | null;
  readonly session: string;
}

const KEY = 'key ';

/** The whole key, on several rows if necessary: no other output shows it. */
function keyLines(key: string, columns: number): readonly Line[] {
  const room = Math.max(1, columns - KEY.length);
  return Array.from({ length: Math.ceil(key.length / room) }, (_, row) => [
    say(row === 0 ? KEY : ' '.repeat(KEY.length), 'dim'),
    ...quote(key.slice(row * room, (row + 1) * room)),
  ]);
}

/** `2 sessions · 1 waiting for results · 1 ended · 4 calls` */
function tally(sessions: readonly Session[]): string {
  const statuses = sessions.map(session => statusOf(session) ?? '');
  const waiting = statuses.filter(status => status === 'awaiting_tool_results').length;
  const ended = statuses.filter(isTerminal).length;
  const calls = sessions.reduce((sum, session) => sum + session.calls.size + session.forgotten, 0);
  return [
    pluralize(sessions.length, 'session'),
    ...(waiting > 0 ? [`${waiting} waiting for results`] : []),
    ...(ended > 0 ? [`${ended} ended`] : []),
    pluralize(calls, 'call'),
  ].join(' · ');
}

interface PlatformOptions extends ScreenOptions {
  readonly platform: ShownPlatform;
  /** Called for `q` or Ctrl-C, each time. The caller stops the platform, then closes the screen. */
  readonly onQuit: () => void;
}

export const PLATFORM_KEYS = new Keys<PlatformView>([
  bind('everywhere', '?', 'show or hide the keys', view => view.toggleHelp()),
  bind('everywhere', 'q ctrl+c', 'quit', view => view.quit()),
  ...LIST_KEYS,
  ...READING_KEYS,
]);

/** The calls of all sessions of a platform, in the order of the requests. */
export class PlatformView extends ListScreen {
  readonly list: ListDetail<KnownCall, 'call'>;
  readonly quit: () => void;
  protected readonly keys: Keys<PlatformView> = PLATFORM_KEYS;
  readonly #platform: ShownPlatform;
  readonly #sessions = new Sessions();
  /** The calls by key, in order; reset to null by each event. */
  #calls: ReadonlyMap<string, KnownCall> | null = null;

  constructor(options: PlatformOptions, onChange: () => void) {
    super(options, onChange);
    const bodies = new Memo<readonly Line[]>();
    this.#platform = options.platform;
    this.quit = options.onQuit;
    this.list = this.listDetail({
      title: 'Calls',
      tabs: [{ name: 'call', title: 'Call' }],
      wide: 120,
      share: 0.55,
      entries: () => {
        this.#calls ??= callsOf(this.#sessions.list);
        const calls = this.#calls;
        return { keys: [...calls.keys()], get: key => calls.get(key) };
      },
      titleOf: ({ call }) => `${call.tool} ${call.key}`,
      textOf: ({ call }) => [call.tool, call.key, call.args],
      ...tableOf(
        () => (this.#sessions.list.length === 1 ? CALLS_OF_ONE : OF_SEVERAL),
        (call: KnownCall, isSelected) => sessionCallRow(call, this.now, isSelected),
      ),
      // The bodies do not change as time passes.
      sheetOf: known =>
        onePart(
          [say('CALL', 'title')],
          [...callHead(known, this.now), ...bodies.of([known.call], () => callBodies(known))],
        ),
      empty: columns => [
        line`No calls yet.`,
        [say('Give a client the URL, the session and the key, or answer from another terminal:', 'dim')],
        ...this.#answerCommand(columns - 2).map((row): Line => [say('  '), ...row]),
      ],
    });
  }

  override event(event: Event): void {
    super.event(event);
    this.#sessions.apply(event);
    this.#calls = null;
    if (event.kind === 'awaiting' || event.kind === 'answered') return; // the rows of the calls show it
    const news = newsOf(event, { sessions: this.#sessions });
    if (news) this.note('event', [news]);
  }

  get summary(): string {
    return tally(this.#sessions.list);
  }

  protected head(columns: number, isRoomy: boolean): readonly Line[] {
    const { url, key, session } = this.#platform;
    return [
      [say('session mock', 'title'), say('  '), say(url, 'running'), say('  '), ...quote(session)],
      ...(key === null ? [] : keyLines(key, columns)),
      [say(this.summary, 'dim')],
      ...(isRoomy && !this.list.isEmpty ? this.#answerCommand(columns) : []),
    ];
  }

  /** A command to copy, with the generated key: on two rows if one is too narrow. */
  #answerCommand(columns: number): Line[] {
    const { url, session, key } = this.#platform;
    const command = [
      say('protocol-cli session answer ', 'dim'),
      say(`${url} `, 'running'),
      ...quote(session),
    ];
    const options = say(`${key === null ? '' : ` --key ${key}`} --tool <url>`, 'dim');
    const row = [...command, options];
    if (key === null || widthOf(row) <= columns) return [row];
    return [
      [...command, say(' \\', 'dim')],
      [say(' '), options],
    ];
  }
}

function callsOf(sessions: readonly Session[]): ReadonlyMap<string, KnownCall> {
  const calls = sessions.flatMap(session => knownCalls(session));
  calls.sort((one, other) => one.call.askedAt - other.call.askedAt);
  return new Map(calls.map(known => [JSON.stringify([known.session.id, known.call.key]), known]));
}

/** Shows the calls of a platform's sessions full screen. Needs a terminal on stdin and stdout. */
export function platformScreen(options: PlatformOptions & FullScreenOptions) {
  return fullScreen(onChange => new PlatformView(options, onChange), options);
}
