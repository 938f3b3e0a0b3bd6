import { exchangeRow } from '../../../story/calls/index.js';
import type { Line } from '../../../story/line.js';
import { say } from '../../../story/spans.js';
import type { CallsScene, CallsShares, SeenCalls, SeenTable } from '../../calls/page.js';
import type { Looking } from '../looking.js';
import type { State } from '../state/state.js';
import { TABS, TITLES } from '../tabs/index.js';
import type { World } from '../world.js';
import { callsTable } from './calls-table.js';
import { type ServerName, serverNames } from './server-names.js';

/** The rows of a list say much; who reads has the room. */
export const SHARES: CallsShares = {
  list: { wide: 150, share: 0.42 },
  reading: { wide: 150, share: 0.34 },
};

const EMPTY: readonly Line[] = [
  [say('No calls yet.')],
  [say('t', 'title'), say(' shows the tools: choose an operation there, fill in its form, run it.', 'dim')],
];

/** The calls of a volume, as they are looked at. */
export function callsSceneOf(
  { focus, tab }: State['calls'],
  looking: Looking,
  world: World,
  now: number,
): Omit<CallsScene, 'sheet'> {
  const { book, key } = looking;
  const { keys } = book;
  const serverOf = serverNames(looking, world);
  return {
    count: keys.length,
    selected: key === null ? 0 : book.placeOf(key),
    focus,
    tabs: { titles: TITLES, chosen: TABS.indexOf(tab) },
    shares: SHARES,
    empty: EMPTY,
    table: (seen, columns) => tableOf({ book, serverOf, now }, seen, columns),
  };
}

/** What calls are told with. */
interface Telling extends Pick<Looking, 'book'> {
  readonly serverOf: ServerName | null;
  readonly now: number;
}

function tableOf(
  { book, serverOf, now }: Telling,
  { from, to, selected }: SeenCalls,
  columns: number,
): SeenTable {
  const rows = book.keys.slice(from, to).flatMap(each => {
    const exchange = book.history.exchanges.get(each);
    return exchange ? [exchangeRow(exchange, now, book, serverOf?.(exchange))] : [];
  });
  return {
    lines: callsTable(rows, rows[selected - from], columns, serverOf !== null),
    isRunning: rows.some(({ isRunning }) => isRunning),
  };
}
