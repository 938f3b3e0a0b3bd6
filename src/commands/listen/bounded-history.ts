import type { Event } from '../../exchange/events.js';
import { type Arrival, type Exchange, isSubscribed } from '../../exchange/exchange.js';
import { keeping } from '../../exchange/forgetting.js';
import type { History } from '../../exchange/history.js';

export interface HistoryLimits {
  readonly calls: number;
  /** Of one call, besides its result. */
  readonly arrivals: number;
  /** Of messages, in bytes. */
  readonly bytes: number;
}

const LIMITS: HistoryLimits = { calls: 2_000, arrivals: 400, bytes: 32 * 1024 * 1024 };

/**
 * Keeps a history small however long it is told: the calls of long ago go, with what is known of their threads, down to half of
 * what is allowed, so that it is not done each time. What is expected stays; of a call whose subscription is open its messages go
 * first, and itself only where there are too many of those.
 */
export class BoundedHistory {
  #bytes = 0;

  constructor(
    private readonly history: History,
    private readonly expected: ReadonlySet<string>,
    private readonly limits: HistoryLimits = LIMITS,
  ) {}

  /** To be told each event after the history, and after whoever looks things up there. */
  apply(event: Event): void {
    if (event.kind === 'request') this.#bytes += event.body?.size ?? 0;
    if (event.kind !== 'response') return;
    for (const key of event.calls ?? []) this.#shorten(key);
    const { exchanges } = this.history;
    if (exchanges.size - this.expected.size > this.limits.calls || this.#bytes > this.limits.bytes)
      this.#forget();
  }

  /** Of a call that is told things again and again, the latest and its result: later verdicts depend on that. */
  #shorten(key: string): void {
    const exchange = this.history.exchanges.get(key);
    if (!exchange) return;
    const { arrivals: most, bytes } = this.limits;
    const isHeavy = weightOf(exchange) > bytes / 2;
    if (!isHeavy && exchange.arrivals.length <= most) return;
    const from = exchange.arrivals.length - (isHeavy ? 1 : Math.ceil(most / 2));
    const shorter = keeping(exchange, (arrival, index) => index >= from || isResult(arrival));
    this.history.exchanges.set(key, shorter);
  }

  #forget(): void {
    const { exchanges } = this.history;
    let calls = exchanges.size - this.expected.size;
    let bytes = 0;
    for (const exchange of exchanges.values()) bytes += weightOf(exchange);
    const isEnough = () => calls <= this.limits.calls / 2 && bytes <= this.limits.bytes / 2;
    for (const [key, exchange] of exchanges) {
      if (isEnough() || calls === 1) break; // the latest stays, however large it is
      if (this.expected.has(key)) continue;
      bytes -= weightOf(exchange);
      if (isSubscribed(exchange)) exchanges.set(key, withoutMessages(exchange));
      else {
        exchanges.delete(key);
        calls--;
      }
    }
    this.#bytes = bytes;
    this.#forgetSubscribed();
    this.#forgetThreads();
  }

  /** The oldest of what is still subscribed, where even that is too much. */
  #forgetSubscribed(): void {
    const { exchanges } = this.history;
    let surplus = exchanges.size - this.expected.size - this.limits.calls;
    for (const key of exchanges.keys()) {
      if (surplus <= 0) return;
      if (!this.expected.has(key) && exchanges.delete(key)) surplus--;
    }
  }

  /** Views are shown as they come: nobody asks for them again. */
  #forgetThreads(): void {
    const { threads, exchanges } = this.history;
    for (const thread of threads.values()) {
      const calls = thread.calls.filter(key => exchanges.has(key));
      if (calls.length === 0) threads.delete(thread.id);
      else threads.set(thread.id, { ...thread, calls, views: new Map() });
    }
  }
}

/** Still settled and subscribed, for the verdicts to come; what was told of it is told no more. */
function withoutMessages(exchange: Exchange): Exchange {
  const { settled } = exchange;
  const shorter = keeping(exchange, () => false);
  if (settled?.by !== 'result') return shorter;
  return { ...shorter, settled: { ...settled, result: { ...settled.result, text: '' }, native: null } };
}

function isResult({ verdict }: Arrival): boolean {
  return verdict.kind === 'settles';
}

function weightOf({ arrivals }: Exchange): number {
  return arrivals.reduce((sum, { size }) => sum + size, 0);
}
