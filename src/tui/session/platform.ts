import { type Session, Sessions, statusOf } from '../../events/session-calls.js';
import { isTerminal } from '../../protocol/session.js';
import { type Line, line, pluralize, quote, say } from '../../render/line.js';
import { type KnownCall, knownCalls, sessionCallRow } from '../../render/session-calls.js';
import type { ColourLevel } from '../../render/terminal/colour-level.js';
import { widthOf } from '../../render/terminal/fit.js';
import { newsOf } from '../../render/tool-news.js';
import type { Clock } from '../../system/clock.js';
import { copyToClipboard } from '../clipboard.js';
import type { FullScreenOptions } from '../full-screen.js';
import { bind, Keys } from '../keys.js';
import { tableOf } from '../list/list.js';
import { LIST_KEYS, READING_KEYS } from '../list/list-keys.js';
import { fullScreenList } from '../live-list/full-screen-list.js';
import { createLiveList, type LiveListControls, type LiveListSource } from '../live-list/live-list.js';
import type { ActionResult } from '../screen/effects.js';
import { CALL_TAB, CALL_TEXTS, CALLS_OF_ONE, CALLS_OF_SEVERAL, callDetails } from './session-calls.js';

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

interface PlatformOptions {
  readonly platform: ShownPlatform;
  readonly clock: Clock;
  readonly level: ColourLevel;
  /** Copies to the clipboard of the terminal. */
  readonly copy: (text: string) => ActionResult;
  /** Called for `q` or Ctrl-C, each time. The caller stops the platform, then closes the screen. */
  readonly onQuit: () => void;
}

export const PLATFORM_KEYS = new Keys<LiveListControls<KnownCall>>([
  bind('everywhere', '?', 'show or hide the keys', platform => platform.effects.showHelp()),
  bind('everywhere', 'q ctrl+c', 'quit', platform => platform.quit()),
  ...LIST_KEYS,
  ...READING_KEYS,
]);

/** The screen of a platform: the calls of all its sessions, in the order of the requests. */
export function createPlatformScreen({ platform, clock, level, copy, onQuit }: PlatformOptions) {
  return createLiveList({
    source: now => platformCalls(platform, now),
    keys: PLATFORM_KEYS,
    controls: base => base,
    copy,
    quit: onQuit,
    clock,
    level,
  });
}

function platformCalls(platform: ShownPlatform, now: () => number): LiveListSource<KnownCall, 'call'> {
  const sessions = new Sessions();
  const detailsOf = callDetails();
  /** The calls by key, in order; reset to null by each event. */
  let calls: ReadonlyMap<string, KnownCall> | null = null;
  const summary = () => tally(sessions.list);
  return {
    list: {
      title: 'Calls',
      tabs: [CALL_TAB],
      wide: 120,
      share: 0.55,
      entries() {
        const known = calls ?? callsOf(sessions.list);
        calls = known;
        return { keys: [...known.keys()], get: key => known.get(key) };
      },
      ...CALL_TEXTS,
      ...tableOf(
        () => (sessions.list.length === 1 ? CALLS_OF_ONE : CALLS_OF_SEVERAL),
        (call: KnownCall, isSelected) => sessionCallRow(call, now(), isSelected),
      ),
      sheetOf: known => detailsOf(known, now()),
      empty: columns => [
        line`No calls yet.`,
        [say('Give a client the URL, the session and the key, or answer from another terminal:', 'dim')],
        ...answerCommand(platform, columns - 2).map((row): Line => [say('  '), ...row]),
      ],
    },
    apply(event) {
      sessions.apply(event);
      calls = null;
      if (event.kind === 'awaiting' || event.kind === 'answered') return null; // the rows of the calls show it
      return newsOf(event, { sessions });
    },
    head(columns, isRoomy) {
      const { url, key, session } = platform;
      const hasCalls = sessions.list.some(each => each.calls.size > 0);
      return [
        [say('session mock', 'title'), say('  '), say(url, 'running'), say('  '), ...quote(session)],
        ...(key === null ? [] : keyLines(key, columns)),
        [say(summary(), 'dim')],
        ...(isRoomy && hasCalls ? answerCommand(platform, columns) : []),
      ];
    },
    summary,
  };
}

/** A command to copy, with the generated key: on two rows if one is too narrow. */
function answerCommand({ url, session, key }: ShownPlatform, columns: number): readonly Line[] {
  const command = [say('protocol-cli session answer ', 'dim'), say(`${url} `, 'running'), ...quote(session)];
  const options = say(`${key === null ? '' : ` --key ${key}`} --tool <url>`, 'dim');
  const row = [...command, options];
  if (key === null || widthOf(row) <= columns) return [row];
  return [
    [...command, say(' \\', 'dim')],
    [say(' '), options],
  ];
}

function callsOf(sessions: readonly Session[]): ReadonlyMap<string, KnownCall> {
  const calls = sessions.flatMap(session => knownCalls(session));
  calls.sort((one, other) => one.call.askedAt - other.call.askedAt);
  return new Map(calls.map(known => [JSON.stringify([known.session.id, known.call.key]), known]));
}

/** Shows the calls of a platform's sessions full screen. Needs a terminal on stdin and stdout. */
export function platformScreen(options: Omit<PlatformOptions, 'copy'> & FullScreenOptions) {
  const copy = (text: string) => copyToClipboard(options.stdout, text);
  return fullScreenList(createPlatformScreen({ ...options, copy }), options);
}
