import type { Event } from '../../events/events.js';
import { type Exchange, isSubscribed } from '../../events/exchange.js';
import { keeping } from '../../events/fold-exchange.js';
import type { History } from '../../events/history.js';

export interface HistoryLimits {
  readonly calls: number;
  /** Of one call, besides its result. */
  readonly arrivals: number;
  /** Of messages, in bytes. */
  readonly bytes: number;
}

const LIMITS: HistoryLimits = { calls: 2_000, arrivals: 400, bytes: 32 * 1024 * 1024 };

/**
 * Keeps a history small, however long the listener runs: beyond the limits the oldest calls are dropped, down to half of them. Expected
 * calls stay. A call with an open subscription first loses its messages, since later verdicts depend on the rest.
 */
export class BoundedHistory {
  #bytes = 0;

  constructor(
    private readonly history: History,
    private readonly expected: ReadonlySet<string>,
    private readonly limits: HistoryLimits = LIMITS,
  ) {}

  /** Must be called after the history and its readers. */
  apply(event: Event): void {
    if (event.kind === 'request') this.#bytes += event.body?.size ?? 0;
    if (event.kind !== 'response') return;
    for (const key of event.calls ?? []) this.#shorten(key);
    if (this.#surplus(1) > 0 || this.#bytes > this.limits.bytes) this.#drop();
  }

  /** Calls beyond a part of the limit. */
  #surplus(part: number): number {
    return this.history.exchanges.size - this.expected.size - this.limits.calls * part;
  }

  /** Of a call with very many messages keeps the result, which later verdicts depend on, and the latest ones. */
  #shorten(key: string): void {
    const exchange = this.history.exchanges.get(key);
    if (!exchange) return;
    const { arrivals: most, bytes } = this.limits;
    const isHeavy = weightOf(exchange) > bytes / 2;
    if (!isHeavy && exchange.arrivals.length <= most) return;
    const from = exchange.arrivals.length - (isHeavy ? 1 : Math.ceil(most / 2));
    const isKept = ({ verdict }: Exchange['arrivals'][number], index: number) =>
      index >= from || verdict.kind === 'settles';
    this.history.exchanges.set(key, keeping(exchange, isKept));
  }

  #drop(): void {
    const { exchanges } = this.history;
    this.#bytes = 0;
    for (const exchange of exchanges.values()) this.#bytes += weightOf(exchange);
    const isEnough = () => this.#surplus(0.5) <= 0 && this.#bytes <= this.limits.bytes / 2;
    for (const [key, exchange] of exchanges) {
      if (isEnough() || exchanges.size - this.expected.size === 1) break; // the latest stays, however large it is
      if (this.expected.has(key)) continue;
      this.#bytes -= weightOf(exchange);
      if (isSubscribed(exchange)) exchanges.set(key, withoutMessages(exchange));
      else exchanges.delete(key);
    }
    for (const key of exchanges.keys()) {
      if (this.#surplus(1) <= 0) break;
      if (!this.expected.has(key)) exchanges.delete(key);
    }
    this.#dropThreads();
  }

  /** Views are printed as they come, and not needed again. */
  #dropThreads(): void {
    const { threads, exchanges } = this.history;
    for (const thread of threads.values()) {
      const calls = thread.calls.filter(key => exchanges.has(key));
      if (calls.length === 0) threads.delete(thread.id);
      else threads.set(thread.id, { ...thread, calls, views: new Map() });
    }
  }
}

function withoutMessages(exchange: Exchange): Exchange {
  const { settled } = exchange;
  const shorter = keeping(exchange, () => false);
  if (settled?.by !== 'result') return shorter;
  return { ...shorter, settled: { ...settled, result: { ...settled.result, text: '' }, native: null } };
}

function weightOf({ arrivals }: Exchange): number {
  return arrivals.reduce((sum, { size }) => sum + size, 0);
}
