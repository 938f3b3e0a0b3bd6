import { type Session, statusOf } from '../../../exchange/session/session.js';
import { isTerminal } from '../../../protocol/session/status.js';
import type { Line } from '../../../story/line.js';
import { quote, say } from '../../../story/spans.js';

/** The platform that is looked at. */
export interface ShownPlatform {
  readonly url: string;
  /** What clients show: for this run alone, and of no use to anybody who does not see it. Null where it is not to be told. */
  readonly key: string | null;
  /** The session that is there from the start. */
  readonly session: string;
}

/** Where the platform is reached and with which key, and how its sessions go. */
export function headLines(
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
export function tallyLine(sessions: readonly Session[]): Line {
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
export function emptyLines({ url, session }: ShownPlatform): readonly Line[] {
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
