import type { Event } from '../../events/events.js';
import { type Session, type SessionCall, Sessions, statusOf } from '../../events/session-calls.js';
import { isTerminal } from '../../protocol/callbacks.js';
import { callBodies, callHead } from '../../render/call-details.js';
import { type CallView, type SessionColumn, sessionCallRow } from '../../render/calls.js';
import { type Line, quote, say } from '../../render/line.js';
import { sessionNews } from '../../render/news.js';
import { type KnownCall, knownCalls } from '../../render/session-answers.js';
import type { ColourLevel } from '../../render/terminal/colour-level.js';
import { createTheme, type Theme } from '../../render/terminal/theme.js';
import type { ServerScreen, ServerStage } from '../full-screen/full-screen.js';
import { Notices, wrapLines } from '../layout.js';
import {
  type Command,
  FIRST_VIEW,
  type Frame,
  keyLines,
  type Listed,
  type Listing,
  layTable,
  listFrame,
  listScreen,
  statusLine,
  stepView,
  type Table,
  type View,
} from '../list.js';
import type { Size } from '../terminal.js';

/** Lays out the details of calls; the bodies of the last one stay laid out, since most frames show the same. */
export class CallDetails {
  #call: SessionCall | undefined;
  #width = 0;
  #bodies: readonly string[] = [];

  constructor(private readonly theme: Theme) {}

  /** @param now ms since the start */
  rowsOf(known: KnownCall, now: number, width: number): readonly string[] {
    return [...wrapLines(callHead(known, now), width, this.theme), ...this.#bodiesOf(known, width)];
  }

  #bodiesOf(known: KnownCall, width: number): readonly string[] {
    if (known.call === this.#call && width === this.#width) return this.#bodies;
    this.#call = known.call;
    this.#width = width;
    this.#bodies = wrapLines(callBodies(known), width, this.theme);
    return this.#bodies;
  }
}

const columns: Table<SessionColumn>['columns'] = [
  { name: 'time', title: '   TIME', most: 10 },
  { name: 'session', title: 'SESSION', most: 16 },
  { name: 'tool', title: 'TOOL', most: 24 },
  { name: 'args', title: 'ARGUMENTS', most: 36 },
  { name: 'id', title: 'ID', most: 16 },
];

/** The calls of one session have no use for a column of its id. */
const OF_ONE: Table<SessionColumn> = {
  columns: columns.filter(({ name }) => name !== 'session'),
  dispensable: ['time', 'id', 'args'],
};
const OF_MANY: Table<SessionColumn> = { columns, dispensable: ['id', 'args', 'time', 'session'] };

/** Calls of agent sessions as a table of `width` cells; its first line is the head. */
export function sessionTable(
  rows: readonly CallView<SessionColumn>[],
  selected: CallView<SessionColumn> | undefined,
  width: number,
  { ofOne }: { readonly ofOne: boolean },
): readonly Line[] {
  return layTable(ofOne ? OF_ONE : OF_MANY, rows, selected, width);
}

/** The platform that is looked at. */
export interface ShownPlatform {
  readonly url: string;
  /** What clients show: for this run alone, and of no use to anybody who does not see it. Null where it is not to be told. */
  readonly key: string | null;
  /** The session that is there from the start. */
  readonly session: string;
}

/** Where the platform is reached and with which key, and how its sessions go. */
function headLines(
  { url, key }: ShownPlatform,
  sessions: readonly Session[],
  columns: number,
): readonly Line[] {
  return [
    [say('session mock', 'title'), say('  '), say(url, 'running')],
    ...(key === null ? [] : keyRows(key, columns)),
    tallyLine(sessions),
  ];
}

const KEY = 'key ';

/** Whole, however narrow it is: it stands nowhere else. */
function keyRows(key: string, columns: number): Line[] {
  const room = Math.max(1, columns - KEY.length);
  return Array.from({ length: Math.ceil(key.length / room) }, (_, row) => [
    say(row === 0 ? KEY : ' '.repeat(KEY.length), 'dim'),
    ...quote(key.slice(row * room, (row + 1) * room)),
  ]);
}

/** `2 sessions · 1 waits · 1 ended · 4 calls` */
function tallyLine(sessions: readonly Session[]): Line {
  const statuses = sessions.map(session => statusOf(session) ?? '');
  const waiting = statuses.filter(status => status === 'awaiting_tool_results').length;
  const ended = statuses.filter(isTerminal).length;
  const calls = sessions.reduce((sum, session) => sum + session.calls.size + session.forgotten, 0);
  const counts = [
    counted(sessions.length, 'session'),
    ...(waiting > 0 ? [`${waiting} waiting for results`] : []),
    ...(ended > 0 ? [`${ended} ended`] : []),
    counted(calls, 'call'),
  ];
  return [say(counts.join(' · '), 'dim')];
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

/** What to do where nothing has come yet. */
function emptyLines({ url, session }: ShownPlatform): readonly Line[] {
  return [
    [say('No calls yet.')],
    [say('Give a client this URL, the session and the key, or answer from another terminal:', 'dim')],
    [
      say('  protocol-cli session answer ', 'dim'),
      say(url, 'running'),
      say(' '),
      ...quote(session),
      say(' --tool <url>', 'dim'),
    ],
  ];
}

/** Everything that there is to see. */
interface Scene {
  readonly platform: ShownPlatform;
  /** Those that are remembered, oldest first. */
  readonly sessions: readonly Session[];
  readonly view: View;
  readonly notices: readonly Line[];
  /** Ms since the start. */
  readonly now: number;
}

/** What frames are drawn with. */
interface Pencil {
  readonly theme: Theme;
  readonly details: CallDetails;
}

/** Names each call of the list. */
function keysOf(sessions: readonly Session[]): readonly string[] {
  return callsOf(sessions).map(({ session, call }) => JSON.stringify([session.id, call.key]));
}

/** Lays the scene out: the calls of all sessions, in the order in which they were asked. */
export function platformFrame(scene: Scene, size: Size, { theme, details: laid }: Pencil): Frame {
  const { platform, sessions, view, notices, now } = scene;
  const calls = callsOf(sessions);
  const listing: Listing = {
    head: headLines(platform, sessions, size.columns),
    empty: emptyLines(platform),
    help: keyLines(),
    notices,
    view,
    keys: keysOf(sessions),
    foot: columns => statusLine(view, columns),
    table: (seen, columns) => tableOf(calls, { ...seen, now, ofOne: sessions.length === 1 }, columns),
    details: (index, columns) => {
      const call = calls[index];
      return call ? laid.rowsOf(call, now, columns) : [];
    },
  };
  return listFrame(listing, size, theme);
}

interface SeenCalls {
  readonly from: number;
  readonly to: number;
  readonly selected: number;
  readonly now: number;
  readonly ofOne: boolean;
}

function tableOf(
  calls: readonly KnownCall[],
  { from, to, selected, now, ofOne }: SeenCalls,
  columns: number,
): ReturnType<Listing['table']> {
  const rows = calls.slice(from, to).map((call, row) => sessionCallRow(call, now, from + row === selected));
  return {
    lines: sessionTable(rows, rows[selected - from], columns, { ofOne }),
    isRunning: rows.some(({ isRunning }) => isRunning),
  };
}

function callsOf(sessions: readonly Session[]): readonly KnownCall[] {
  const calls = sessions.flatMap(session => knownCalls(session));
  return calls.sort((one, other) => one.call.askedAt - other.call.askedAt);
}

interface PlatformScreenOptions extends ServerStage {
  readonly platform: ShownPlatform;
  readonly level: ColourLevel;
  /** `q` or Ctrl-C, each time. Whoever listens lets the platform end, then closes the screen. */
  readonly onQuit: () => void;
}

/** What the screen of a platform knows, and what keys do. */
class PlatformList implements Listed {
  readonly #options: Pick<PlatformScreenOptions, 'platform' | 'clock' | 'onQuit'>;
  readonly #sessions = new Sessions();
  readonly #notices = new Notices();
  readonly #pencil: Pencil;
  #view = FIRST_VIEW;
  /** When the events began, by the clock. */
  #start: number;
  #seen: Pick<Frame, 'height' | 'most'> = { height: 0, most: 0 };

  constructor(options: Pick<PlatformScreenOptions, 'platform' | 'clock' | 'onQuit' | 'level'>) {
    this.#options = options;
    const theme = createTheme(options.level);
    this.#pencil = { theme, details: new CallDetails(theme) };
    this.#start = options.clock.now();
  }

  event(event: Event): void {
    this.#start = this.#options.clock.now() - event.at;
    this.#sessions.apply(event);
    if (!isAside(event)) return;
    const line = sessionNews(event, { sessions: this.#sessions });
    if (line) this.#notices.event(line, this.#now);
  }

  notice(text: string, isBad: boolean): void {
    this.#notices.mock(text, isBad ? 'bad' : 'good', this.#now);
  }

  get summary(): string {
    return tallyLine(this.#sessions.list)
      .map(({ text }) => text)
      .join('');
  }

  command(command: Command): void {
    this.#view = stepView(this.#view, command, { calls: keysOf(this.#sessions.list), ...this.#seen });
    if (command === 'quit') this.#options.onQuit();
  }

  frame(size: Size): Frame {
    const now = this.#now;
    const scene = {
      platform: this.#options.platform,
      sessions: this.#sessions.list,
      view: this.#view,
      notices: this.#notices.lines(now),
      now,
    };
    const frame = platformFrame(scene, size, this.#pencil);
    this.#seen = frame;
    return { ...frame, isRunning: frame.isRunning || this.#notices.isPassing(now) };
  }

  get #now(): number {
    return this.#options.clock.now() - this.#start;
  }
}

/** What no row of a call says: how sessions go, what was refused, what is to be warned of. */
function isAside(event: Event): boolean {
  return event.kind !== 'awaiting' && event.kind !== 'answered';
}

/** The live list of the calls of a platform's sessions, on the alternate screen. Needs a terminal on both ends. */
export function platformScreen(options: PlatformScreenOptions): ServerScreen {
  return listScreen(new PlatformList(options), options);
}
