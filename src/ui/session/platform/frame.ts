import type { Theme } from '../../../dress/theme.js';
import type { Session } from '../../../exchange/session/session.js';
import type { Line } from '../../../story/line.js';
import { sessionCallRow } from '../../../story/session/call-row.js';
import { type KnownCall, knownCalls } from '../../../story/session/known.js';
import { keyLines, statusLine } from '../../list/foot.js';
import { type Frame, type Listing, listFrame } from '../../list/frame.js';
import type { View } from '../../list/view.js';
import type { Size } from '../../terminal.js';
import { sessionTable } from '../table.js';
import type { CallDetails } from './details.js';
import { emptyLines, headLines, type ShownPlatform } from './head.js';

/** Everything that there is to see. */
export interface Scene {
  readonly platform: ShownPlatform;
  /** Those that are remembered, oldest first. */
  readonly sessions: readonly Session[];
  readonly view: View;
  readonly notices: readonly Line[];
  /** Ms since the start. */
  readonly now: number;
}

/** What frames are drawn with. */
export interface Pencil {
  readonly theme: Theme;
  readonly details: CallDetails;
}

/** Names each call of the list. */
export function keysOf(sessions: readonly Session[]): readonly string[] {
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
