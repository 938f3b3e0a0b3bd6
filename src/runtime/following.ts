import { isSubscribed } from '../exchange/exchange.js';
import type { History } from '../exchange/history.js';
import type { Log } from '../exchange/log.js';

/** Resolves once no more events can count: after the last one, or where the subscription was cancelled or its thread closed. */
export function subscriptionEnd(log: Log, history: History, key: string): Promise<void> {
  const isOver = () => {
    const exchange = history.exchanges.get(key);
    return !exchange || !isSubscribed(exchange);
  };
  if (isOver()) return Promise.resolve();
  return new Promise(resolve => {
    const unsubscribe = log.subscribe(() => {
      if (!isOver()) return;
      unsubscribe();
      resolve();
    });
  });
}
