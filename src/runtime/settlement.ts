import type { Event } from '../exchange/events.js';
import type { Exchange } from '../exchange/exchange.js';
import type { History } from '../exchange/history.js';
import type { Log } from '../exchange/log.js';
import type { Clock } from '../system/clock.js';
import { startDeadline } from './deadline.js';

export interface Watch {
  readonly key: string;
  /** 0: wait for ever. */
  readonly timeoutMs: number;
  /** Whether that time stands still while a person decides; true unless told. */
  readonly waitsForPeople?: boolean;
  /** Asked after each event: true ends the wait though the call is pending. */
  readonly leave?: (exchange: Exchange) => boolean;
}

/**
 * Resolves when the call is settled, left, or its time is over; that time stands still while a person decides, if one is there.
 * Our own timeout becomes a fact (RT-TIMEOUT).
 */
export function settlement(log: Log, history: History, clock: Clock, watch: Watch): Promise<void> {
  const { key, timeoutMs, waitsForPeople = true, leave } = watch;
  return new Promise(resolve => {
    const deadline = startDeadline(clock, timeoutMs, () =>
      log.emit({ kind: 'expired', what: 'timeout', afterMs: timeoutMs, calls: [key] }),
    );
    const finish = () => {
      deadline.cancel();
      unsubscribe();
      resolve();
    };
    const look = (event: Event) => {
      const exchange = event.calls?.includes(key) ? history.exchanges.get(key) : undefined;
      if (!exchange) return;
      if (exchange.settled || leave?.(exchange)) finish();
      else if (exchange.waitingFor && waitsForPeople) deadline.pause();
      else deadline.resume();
    };
    const unsubscribe = log.subscribe(look);
  });
}
