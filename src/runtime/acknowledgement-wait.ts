import { ACK_TOLERANCE_MS, type Exchange } from '../exchange/exchange.js';
import type { History } from '../exchange/history.js';
import type { Log } from '../exchange/log.js';
import type { Clock } from '../system/clock.js';

/** So long that whoever acknowledges only once its result is answered is told from one whose 200 is under way. */
const MOST_MS = 2 * ACK_TOLERANCE_MS;

/**
 * Resolves once the call's dispatch is answered, and after 200 ms in any case; null where it is answered. A result is answered only
 * then: the two travel on connections of their own, and a tool that waits for the answer has not acknowledged first (TOOL-ACK).
 */
export function acknowledgementWait(
  log: Log,
  history: History,
  clock: Clock,
  key: string,
): Promise<void> | null {
  const isOver = () => !isUnanswered(history.exchanges.get(key));
  if (isOver()) return null;
  return new Promise(resolve => {
    const finish = () => {
      cancel();
      unsubscribe();
      resolve();
    };
    const cancel = clock.after(MOST_MS, finish);
    const unsubscribe = log.subscribe(() => isOver() && finish());
  });
}

function isUnanswered(exchange: Exchange | undefined): boolean {
  const last = exchange?.attempts.at(-1);
  return last !== undefined && last.endedAt === undefined;
}
