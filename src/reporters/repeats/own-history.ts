import type { Exchange } from '../../exchange/exchange.js';
import { History } from '../../exchange/history.js';

/** Of a history of many calls what concerns one of them: its thread, and what was posted for its sake. */
export function ownHistory({ threads, errands }: History, exchange: Exchange): History {
  const { group_id } = exchange.invocation;
  const own = new History();
  own.exchanges.set(exchange.key, exchange);
  const thread = threads.get(group_id);
  if (thread) own.threads.set(group_id, thread);
  for (const errand of errands.ofCall(exchange.key)) own.errands.begin(errand);
  for (const errand of errands.ofThread(group_id)) own.errands.begin(errand);
  return own;
}
