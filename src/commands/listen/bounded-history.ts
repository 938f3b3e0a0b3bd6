import type { Event } from '../../exchange/events.js';
import type { Arrival, Exchange } from '../../exchange/exchange.js';
import { keeping } from '../../exchange/forgetting.js';
import type { History } from '../../exchange/history.js';

export interface HistoryLimits {
  readonly calls: number;
  /** Of one call, besides its result. */
  readonly arrivals: number;
  /** Of posts that were no call's. */
  readonly errands: number;
  /** Of messages, in bytes. */
  readonly bytes: number;
}

const LIMITS: HistoryLimits = { calls: 2_000, arrivals: 400, errands: 200, bytes: 32 * 1024 * 1024 };

/**
 * Keeps a history small however long it is told: the calls of long ago go, with what is known of their threads, down to half of
 * what is allowed, so that it is not done each time. What is expected stays.
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
    const { exchanges, errands } = this.history;
    if (errands.size > this.limits.errands) errands.clear();
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
    for (const [key, exchange] of exchanges) {
      const isEnough = calls <= this.limits.calls / 2 && bytes <= this.limits.bytes / 2;
      if (isEnough || calls === 1) break; // the latest stays, however large it is
      if (this.expected.has(key)) continue;
      exchanges.delete(key);
      calls--;
      bytes -= weightOf(exchange);
    }
    this.#bytes = bytes;
    this.#forgetThreads();
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

function isResult({ verdict }: Arrival): boolean {
  return verdict.kind === 'settles';
}

function weightOf({ arrivals }: Exchange): number {
  return arrivals.reduce((sum, { size }) => sum + size, 0);
}
