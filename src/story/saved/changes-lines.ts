import {
  ACTIVE_STATE_CHANGE,
  activeStateSchema,
  type Changes,
  type SessionEvent,
} from '../../protocol/session/changes.js';
import type { ToolRequest } from '../../protocol/session/tool-request.js';
import { cut } from '../../text/cut.js';
import { safeJson } from '../../text/json-safe.js';
import type { Line } from '../line.js';
import { quote, say } from '../spans.js';
import { jsonLines } from './answer-lines.js';

/** Of a session that has very many; the last ones tell where it stands. */
const MOST_EVENTS = 50;
const LONGEST = 200;

/** What is new in an agent session, in parts: how it stands, its events, the calls that it waits for, what it said in the end. */
export function changesLines(changes: Changes): (readonly Line[])[] {
  return [
    statusLines(changes),
    eventLines(changes.new_events ?? []),
    pendingLines(changes),
    answerPart(changes),
  ];
}

/** The calls that it waits for: the latest event that says so counts. Null where none does. */
export function pendingIn({ new_events = [] }: Changes): readonly ToolRequest[] | null {
  const latest = new_events.findLast(({ type }) => type === ACTIVE_STATE_CHANGE);
  const state = latest && activeStateSchema.safeParse(latest.data);
  return state?.success ? (state.data.pending_tool_calls ?? []) : null;
}

function statusLines({ status, started_at, finished_at, error }: Changes): Line[] {
  return [
    [say('session ', 'title'), ...quote(status, 'title')],
    ...timeLine('started', started_at),
    ...timeLine('finished', finished_at),
    ...(error ? [[say('✗ ', 'bad'), ...quote(cut(error, LONGEST))]] : []),
  ];
}

function timeLine(what: string, time: string | null | undefined): Line[] {
  return time ? [[say(`${what} `, 'dim'), ...quote(time)]] : [];
}

function eventLines(events: readonly SessionEvent[]): Line[] {
  if (events.length === 0) return [];
  const shown = events.slice(-MOST_EVENTS);
  const rest = events.length - shown.length;
  return [
    [say(`${events.length} EVENT${events.length === 1 ? '' : 'S'}`, 'title')],
    ...(rest > 0 ? [[say(`… ${rest} earlier`, 'dim')]] : []),
    ...shown.map(({ type, timestamp, data }): Line => {
      const when = timestamp === undefined ? [] : [...quote(timestamp, 'dim'), say('  ')];
      const what = data === undefined ? [] : [say('  '), ...quote(cut(safeJson(data), LONGEST), 'dim')];
      return [...when, ...quote(type), ...what];
    }),
  ];
}

function pendingLines(changes: Changes): Line[] {
  const pending = pendingIn(changes);
  if (pending === null) return [];
  return [
    [say(`${pending.length} PENDING CALL${pending.length === 1 ? '' : 'S'}`, 'title')],
    ...pending.map(({ tool_name, args = {}, id }): Line => {
      const named = id == null ? [say(' without an id', 'dim')] : [say(' as ', 'dim'), ...quote(id)];
      return [...quote(tool_name), say(' '), ...quote(cut(safeJson(args), LONGEST)), ...named];
    }),
  ];
}

function answerPart({ answer }: Changes): Line[] {
  return answer === undefined || answer === null ? [] : jsonLines('ANSWER', answer);
}
