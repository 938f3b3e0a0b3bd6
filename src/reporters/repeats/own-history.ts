import type { Exchange } from '../../exchange/exchange.js';
import { type Errand, History } from '../../exchange/history.js';

/**
 * Of a history of many calls what concerns one of them: its thread, and what was posted for its sake. Sorted once, since to search
 * everything for each call would be quadratic.
 */
export function ownHistories(history: History): (exchange: Exchange) => History {
  const errandsOfCalls = new Map<string, Errand[]>();
  const errandsOfThreads = new Map<string, Errand[]>();
  for (const errand of history.errands.values()) {
    for (const key of errand.calls) add(errandsOfCalls, key, errand);
    if (errand.calls.length === 0 && errand.thread !== undefined)
      add(errandsOfThreads, errand.thread, errand);
  }
  return exchange => {
    const { group_id } = exchange.invocation;
    const own = new History();
    own.exchanges.set(exchange.key, exchange);
    const thread = history.threads.get(group_id);
    if (thread) own.threads.set(group_id, thread);
    for (const errand of errandsOfCalls.get(exchange.key) ?? []) own.errands.set(errand.leg, errand);
    for (const errand of errandsOfThreads.get(group_id) ?? []) own.errands.set(errand.leg, errand);
    return own;
  };
}

function add(index: Map<string, Errand[]>, name: string, errand: Errand): void {
  const known = index.get(name);
  if (known) known.push(errand);
  else index.set(name, [errand]);
}
