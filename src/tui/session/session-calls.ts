import { type Line, say } from '../../render/line.js';
import { callBodies, callHead, type KnownCall, type sessionCallRow } from '../../render/session-calls.js';
import { Memo } from '../../util/collections.js';
import { CALL_COLUMNS, type Table } from '../layout.js';
import type { List } from '../list/list.js';
import { onePart, type Sheet } from '../reading/parts.js';

/* The calls of agent sessions in a list, from either side. */

type SessionColumn = Exclude<keyof ReturnType<typeof sessionCallRow>['cells'], 'state'>;

export const CALLS_OF_SEVERAL: Table<SessionColumn> = {
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
  columns: CALLS_OF_SEVERAL.columns.filter(({ name }) => name !== 'session'),
  dispensable: ['id', 'args', 'time', 'args'],
};

export const CALL_TAB = { name: 'call', title: 'Call' } as const;

export const CALL_TEXTS: Pick<List<KnownCall, never>, 'titleOf' | 'textOf'> = {
  titleOf: ({ call }) => `${call.tool} ${call.key}`,
  textOf: ({ call }) => [call.tool, call.key, call.args],
};

/** Returns what lays out the ids, the state and the bodies of a call. The bodies do not change as time passes. */
export function callDetails(): (known: KnownCall, now: number) => Sheet {
  const bodies = new Memo<readonly Line[]>();
  return (known, now) =>
    onePart(
      [say('CALL', 'title')],
      [...callHead(known, now), ...bodies.of([known.call], () => callBodies(known))],
    );
}
