import { exchangeRow } from '../../../story/calls/index.js';
import type { CallsScene, CallsShares, SeenCalls, SeenTable } from '../../calls/page.js';
import { titlesWith } from '../../calls/problem-titles.js';
import type { Looking } from '../looking.js';
import type { State } from '../state/state.js';
import { TABS, TITLES, type Verdict } from '../tabs/index.js';
import type { World } from '../world.js';
import { callsTable } from './calls-table.js';
import { emptyLines } from './empty-lines.js';
import { type ServerName, serverNames } from './server-names.js';

/** The rows of a list say much; who reads has the room. */
export const SHARES: CallsShares = {
  list: { wide: 150, share: 0.42 },
  reading: { wide: 150, share: 0.34 },
};

/** What is seen of calls besides how one looks at them. */
interface SeenOf {
  readonly looking: Looking;
  readonly world: World;
  /** Of the call with this key, as far as it is known by now. */
  readonly verdictOf: (key: string) => Verdict;
  readonly now: number;
}

/** The calls of a volume, as they are looked at. */
export function callsSceneOf(
  { focus, tab }: State['calls'],
  { looking, world, verdictOf, now }: SeenOf,
): Omit<CallsScene, 'sheet'> {
  const { book, key } = looking;
  const { keys } = book;
  const serverOf = serverNames(looking, world);
  const titles = key === null ? TITLES : titlesWith(TITLES, verdictOf(key));
  return {
    count: keys.length,
    selected: key === null ? 0 : book.placeOf(key),
    focus,
    tabs: { titles, chosen: TABS.indexOf(tab) },
    shares: SHARES,
    empty: emptyLines(looking),
    table: (seen, columns) => tableOf({ book, serverOf, verdictOf, now }, seen, columns),
  };
}

/** What calls are told with. */
interface Telling extends Pick<Looking, 'book'>, Pick<SeenOf, 'verdictOf' | 'now'> {
  readonly serverOf: ServerName | null;
}

function tableOf(
  { book, serverOf, verdictOf, now }: Telling,
  { from, to, selected }: SeenCalls,
  columns: number,
): SeenTable {
  const rows = book.keys.slice(from, to).flatMap(each => {
    const exchange = book.history.exchanges.get(each);
    if (!exchange) return [];
    const { musts } = verdictOf(each);
    return [exchangeRow(exchange, now, book, { server: serverOf?.(exchange), musts })];
  });
  return {
    lines: callsTable(rows, rows[selected - from], columns),
    isRunning: rows.some(({ isRunning }) => isRunning),
  };
}
