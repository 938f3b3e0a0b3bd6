import type { Book } from '../../exchange/book.js';
import { discoveryOf } from '../../exchange/discovery-of.js';
import type { Event, RequestEvent } from '../../exchange/events.js';
import type { Exchange } from '../../exchange/exchange.js';

/**
 * What there is to judge a call by: its own events, the discovery of its tool, and what came to no call's address while this one
 * waited. In the order in which they happened.
 */
export function concerning(book: Book, exchange: Exchange): readonly Event[] {
  const own = book.of(exchange.key);
  const nobodys = book.of(null);
  const [first] = own;
  if (!first) return [];
  const discovery = discoveryOf(nobodys, { endpoint: exchange.endpoint, seq: first.seq });
  const strays = strayIn(nobodys, first.at, exchange.settled?.at ?? Number.POSITIVE_INFINITY);
  return [...discovery, ...strays, ...own].sort((a, b) => a.seq - b.seq);
}

/** Callbacks of nobody, and what was answered. @param from ms, @param to ms */
function strayIn(events: readonly Event[], from: number, to: number): readonly Event[] {
  const isStray = ({ purpose, at }: RequestEvent) => purpose === 'callback' && at >= from && at <= to;
  const legs = new Set(
    events.flatMap(event => (event.kind === 'request' && isStray(event) ? [event.leg] : [])),
  );
  return events.filter(event => 'leg' in event && legs.has(event.leg ?? ''));
}
