import { LIMITS } from '../util/limits.js';
import type { RequestEvent } from './events.js';
import { type Exchange, isSubscribed } from './exchange.js';

/** Decides which calls a listener that runs for days forgets: the oldest, but not the expected ones. */
export class RecentCalls {
  /** Of all bodies since the calls were last counted. */
  #bytes = 0;

  constructor(private readonly expected: ReadonlySet<string>) {}

  /**
   * The calls to forget before a request: down to half of the limits, and open subscriptions only if nothing else is left. Null within the
   * limits.
   */
  outdated(
    exchanges: ReadonlyMap<string, Exchange>,
    { calls: current = [], body }: RequestEvent,
  ): ReadonlySet<string> | null {
    this.#bytes += body?.size ?? 0;
    const outdated = new Set<string>();
    const isOver = (part: number) =>
      exchanges.size - outdated.size - this.expected.size > LIMITS.callsKept.value * part ||
      this.#bytes > LIMITS.keptBytes.value * part;
    if (!isOver(1)) return null;
    this.#bytes = 0;
    for (const exchange of exchanges.values()) this.#bytes += sizeOf(exchange);
    const forgetUntil = (part: number, isKept: (exchange: Exchange) => boolean) => {
      for (const [key, exchange] of exchanges) {
        if (!isOver(part)) return;
        if (this.expected.has(key) || current.includes(key) || outdated.has(key) || isKept(exchange))
          continue;
        this.#bytes -= sizeOf(exchange);
        outdated.add(key);
      }
    };
    forgetUntil(0.5, isSubscribed);
    forgetUntil(1, () => false);
    return outdated;
  }
}

function sizeOf({ arrivals }: Exchange): number {
  return arrivals.reduce((sum, { size }) => sum + size, 0);
}
