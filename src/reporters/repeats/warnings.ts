import { History } from '../../exchange/history.js';
import type { Warning } from '../../protocol/requirements.js';
import { warningsOf } from '../../story/warnings.js';

/** More than this nobody reads. */
const MOST = 20;
const NO_ERRANDS = new History();

/** The warnings of all calls: what is said of many is said once, with how many. */
export function warningsOfAll(history: History): Warning[] {
  const counted = new Map<string, { readonly warning: Warning; count: number }>();
  for (const warning of allWarnings(history)) {
    const known = counted.get(warning.message);
    if (known) known.count++;
    else counted.set(warning.message, { warning, count: 1 });
  }
  const told = [...counted.values()].map(({ warning, count }) =>
    count === 1 ? warning : { ...warning, message: `${warning.message} (${count} times)` },
  );
  if (told.length <= MOST) return told;
  return [...told.slice(0, MOST), { message: `… and ${told.length - MOST} more warnings` }];
}

function* allWarnings(history: History): Generator<Warning> {
  yield* warningsOf(history, undefined);
  for (const exchange of history.exchanges.values()) yield* warningsOf(NO_ERRANDS, exchange);
}
