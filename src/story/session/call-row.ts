import type { Line, Span } from '../line.js';
import { say } from '../spans.js';
import { clipped } from '../tool-calls/clip.js';
import { elapsed } from '../tool-calls/index.js';
import { callStanding } from './call-state.js';
import type { KnownCall } from './known.js';
import { shortArgs } from './words.js';

/** One call of a session in a list, cell by cell. */
export interface SessionCallRow {
  readonly mark: Span;
  readonly cells: Readonly<Record<SessionColumn | 'state', Line>>;
  readonly isRunning: boolean;
}

export type SessionColumn = 'time' | 'session' | 'tool' | 'args' | 'id';

/** @param now ms since the start */
export function sessionCallRow(known: KnownCall, now: number, isSelected = false): SessionCallRow {
  const { session, call } = known;
  const { mark, line, isRunning } = callStanding(known, now);
  return {
    mark,
    isRunning,
    cells: {
      time: [say(elapsed(call.askedAt).padStart(7), 'dim')],
      session: clipped(session.id, 'dim'),
      tool: clipped(call.tool, isSelected ? 'title' : 'plain'),
      args: shortArgs(call.args, 'dim'),
      id: clipped(call.key, 'dim'),
      state: line,
    },
  };
}
