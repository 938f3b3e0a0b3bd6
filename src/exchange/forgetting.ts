import type { Arrival, Exchange } from './exchange.js';
import { openQuestions, withQuestions } from './questions.js';

/** A tool may talk for days, or flood: of more than this the oldest are forgotten. */
const MOST = { arrivals: 2_000, bytes: 16 * 1024 * 1024 };
/** Digests. */
const REMEMBERED = 10_000;

/**
 * The exchange without what came long ago, where there is too much of it: down to half of what is allowed, so that it is not done
 * each time. What has just come stays, however large it is, since its answer is still to come.
 */
export function withoutSurplus(exchange: Exchange): Exchange {
  if (!isMuch(exchange)) return exchange; // nearly always: so much for each callback is cheap enough
  const open = new Set(openQuestions(exchange).map(({ leg }) => leg));
  const old = exchange.arrivals.slice(0, -1).filter(arrival => !isLasting(arrival, open));
  let { length: count } = old;
  let bytes = old.reduce((sum, { size }) => sum + size, 0);
  if (exchange.arrivals.length <= MOST.arrivals && bytes <= MOST.bytes) return exchange;
  const surplus = new Set<Arrival>();
  for (const arrival of old) {
    if (count <= MOST.arrivals / 2 && bytes <= MOST.bytes / 2) break;
    surplus.add(arrival);
    count--;
    bytes -= arrival.size;
  }
  return keeping(exchange, arrival => !surplus.has(arrival));
}

/** Whether some of it may have to go. */
function isMuch({ arrivals }: Exchange): boolean {
  if (arrivals.length > MOST.arrivals) return true;
  let bytes = -(arrivals.at(-1)?.size ?? 0);
  for (const { size } of arrivals) bytes += size;
  return bytes > MOST.bytes;
}

/** The exchange with some of its arrivals only. Of the others it remembers what a later verdict depends on. */
export function keeping(exchange: Exchange, isKept: (arrival: Arrival, index: number) => boolean): Exchange {
  const arrivals = exchange.arrivals.filter(isKept);
  const left = new Set(arrivals);
  const gone = exchange.arrivals.filter(arrival => !left.has(arrival));
  const legs = new Set(gone.map(({ leg }) => leg));
  const digests = gone.filter(isKnownAgain).map(({ sha256 }) => sha256);
  const remembered =
    digests.length === 0
      ? exchange.remembered
      : new Set([...exchange.remembered, ...digests].slice(-REMEMBERED));
  const shorter = {
    ...exchange,
    arrivals,
    forgotten: exchange.forgotten + gone.length,
    remembered,
    selections: exchange.selections.filter(({ question }) => !legs.has(question)),
  };
  return withQuestions(
    shorter,
    exchange.questions.filter(({ leg }) => !legs.has(leg)),
  );
}

/** What settled the call, and what is still asked. */
function isLasting({ leg, verdict }: Arrival, open: ReadonlySet<string>): boolean {
  return verdict.kind === 'settles' || (verdict.kind === 'holds' && open.has(leg));
}

/** A result or a question whose 200 was lost comes again. */
export function isKnownAgain({ message, verdict }: Arrival): boolean {
  return message?.type === 'tool_result' || verdict.kind === 'holds';
}
