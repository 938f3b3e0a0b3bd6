import type { Session } from '../../exchange/session/session.js';
import type { Line } from '../line.js';
import { outcomesLine } from '../repeats/summary.js';
import { givenOf } from './given.js';
import type { KnownCall } from './known.js';

/** How the calls of a session went: `3 calls: 1 success, 1 timeout, 1 error`; nothing where it had none. */
export function callsTally({ forgotten }: Session, calls: readonly KnownCall[]): readonly Line[] {
  const ways: Record<string, number> = {};
  for (const call of calls) {
    const way = givenOf(call)?.outcome.type ?? 'unanswered';
    ways[way] = (ways[way] ?? 0) + 1;
  }
  if (forgotten > 0) ways['not remembered'] = forgotten;
  const all = calls.length + forgotten;
  return all === 0 ? [] : [outcomesLine(all, ways)];
}
