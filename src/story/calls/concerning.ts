import type { Book } from '../../exchange/book.js';
import type { Event, RequestEvent } from '../../exchange/events.js';
import type { Exchange } from '../../exchange/exchange.js';

/**
 * What there is to judge a call by: its own events, the discovery of its tool, and what came to no call's address while this one
 * waited. In the order in which they happened.
 */
export function concerning(book: Book, exchange: Exchange): readonly Event[] {
  const own = book.of(exchange.key);
  const nobodys = book.of(null);
  const from = own[0]?.at ?? 0;
  const to = exchange.settled?.at ?? Number.POSITIVE_INFINITY;
  const isOfTool = discoveryOf(nobodys, exchange);
  const isStray = ({ purpose, at }: RequestEvent) => purpose === 'callback' && at >= from && at <= to;
  const legs = new Set(
    nobodys.flatMap(event =>
      event.kind === 'request' && (isStray(event) || isOfTool(event)) ? [event.leg] : [],
    ),
  );
  const kept = nobodys.filter(event =>
    event.kind === 'loaded'
      ? event.endpoint === exchange.endpoint
      : 'leg' in event && legs.has(event.leg ?? ''),
  );
  return [...kept, ...own].sort((a, b) => a.seq - b.seq);
}

/** A session may have several tools: that of a call is known by what was loaded for its endpoint; if nothing was, by nothing. */
function discoveryOf(events: readonly Event[], { endpoint }: Exchange): (request: RequestEvent) => boolean {
  const bases = events.flatMap(event =>
    event.kind === 'loaded' && event.endpoint === endpoint && event.base !== null ? [event.base] : [],
  );
  return ({ purpose, url }) =>
    purpose === 'discovery' && (bases.length === 0 || bases.some(base => originOf(base) === originOf(url)));
}

function originOf(url: string): string {
  return URL.canParse(url) ? new URL(url).origin : url;
}
