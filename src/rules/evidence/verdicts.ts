import type { Event } from '../../exchange/events.js';
import type { Exchange } from '../../exchange/exchange.js';
import { History } from '../../exchange/history.js';
import type { Verdict } from '../../exchange/verdict.js';

/** By leg, what each callback meant for its call when it came: the fold may forget it later. */
export function verdictsOf(events: readonly Event[]): ReadonlyMap<string, Verdict> {
  const history = new History();
  const verdicts = new Map<string, Verdict>();
  for (const event of events) {
    history.apply(event);
    for (const key of event.calls ?? []) keepNewest(verdicts, history.exchanges.get(key));
  }
  return verdicts;
}

function keepNewest(verdicts: Map<string, Verdict>, exchange: Exchange | undefined): void {
  const arrival = exchange?.arrivals.at(-1);
  if (arrival && !verdicts.has(arrival.leg)) verdicts.set(arrival.leg, arrival.verdict);
}
