import { groupBy } from '../util/collections.js';

/** How calls end, as far as their messages show, with the words for several of them. What tells more about a call comes first. */
const CALL_ENDS = {
  result: 'with a result',
  refused: 'refused by the runtime',
  'wrong-address': 'posted to a wrong address',
  unfinished: 'with other callbacks only',
  canceled: 'canceled',
  silent: 'silent',
  unacknowledged: 'not acknowledged',
} as const;

export type CallEnd = keyof typeof CALL_ENDS;

const ORDER = Object.keys(CALL_ENDS) as readonly CallEnd[];

/** The one that tells most about a call. */
export function tellingEnd(ends: readonly CallEnd[]): CallEnd {
  return ORDER.find(end => ends.includes(end)) ?? 'unacknowledged';
}

/** How many calls ended in each way. */
export type CallEndCounts = ReadonlyMap<CallEnd, number>;

export function countEnds(calls: readonly { readonly end: CallEnd }[]): CallEndCounts {
  return new Map([...groupBy(calls, ({ end }) => [end])].map(([end, own]) => [end, own.length]));
}

/** `9 calls: 7 with a result, 1 posted to a wrong address, 1 silent` */
export function callEndsText(counts: CallEndCounts): string {
  const total = totalOf(counts);
  const ends = partsOf(counts, ORDER);
  return `${total} ${total === 1 ? 'call' : 'calls'}${ends === '' ? '' : `: ${ends}`}`;
}

/** `2 of 9 calls have no result` */
export function withoutResultText(missing: number, total: number): string {
  return `${missing} of ${total} ${total === 1 ? 'call' : 'calls'} ${missing === 1 ? 'has' : 'have'} no result`;
}

/** `2 of 9 calls have no result`, for which the runtime accepted none; if not all of them are silent, also how they ended. */
export function missingResultsSummary(counts: CallEndCounts): string | null {
  const total = totalOf(counts);
  const missing = total - (counts.get('result') ?? 0);
  if (missing === 0) return null;
  const text = withoutResultText(missing, total);
  const ends = ORDER.filter(end => end !== 'result' && (counts.get(end) ?? 0) > 0);
  return ends.some(end => end !== 'silent') ? `${text}: ${partsOf(counts, ends)}` : text;
}

function totalOf(counts: CallEndCounts): number {
  let total = 0;
  for (const count of counts.values()) total += count;
  return total;
}

function partsOf(counts: CallEndCounts, ends: readonly CallEnd[]): string {
  const parts = ends.flatMap(end => {
    const count = counts.get(end) ?? 0;
    return count > 0 ? [`${count} ${CALL_ENDS[end]}`] : [];
  });
  return parts.join(', ');
}
