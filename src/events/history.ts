import { callNamedIn } from '../protocol/callbacks.js';
import type { Event, EventOf, RequestEvent } from './events.js';
import type { Exchange } from './exchange.js';
import { foldExchange } from './fold-exchange.js';
import { RecentCalls } from './recent-calls.js';
import { type Thread, withCall, withView } from './threads.js';
import { UntrackedRequests } from './untracked-requests.js';

/** The state folded from a list of events. Exchanges are values, replaced as they change; the index is mutable. */
export class History {
  readonly exchanges = new Map<string, Exchange>();
  readonly threads = new Map<string, Thread>();
  readonly untracked = new UntrackedRequests();
  readonly toolsets: EventOf<'loaded'>[] = [];
  /** The servers that ended. */
  readonly exits: EventOf<'exited'>[] = [];
  /** By thread, the keys of calls with an open subscription. */
  readonly #subscribed = new Map<string, Set<string>>();
  readonly #redact: (text: string) => string;
  #recent: RecentCalls | undefined;

  /**
   * @param isWhole whether the events are complete; missing events are not failures in an incomplete recording
   * @param redact for refusals, which our texts quote
   */
  constructor(
    readonly isWhole = true,
    redact: (text: string) => string = text => text,
  ) {
    this.#redact = redact;
  }

  /** The key of the call that a callback names which was posted to a wrong address. */
  namedByStray(event: Event): string | undefined {
    if (event.kind !== 'request' || event.purpose !== 'callback' || event.calls?.length) return undefined;
    const ids = event.body && callNamedIn(event.body.json);
    const { calls = [] } = this.threads.get(ids?.groupId ?? '') ?? {};
    return calls.find(key => this.exchanges.get(key)?.invocation.id === ids?.id);
  }

  /** Drops the oldest calls beyond a limit from now on, but not the expected ones: for a listener that runs for days. */
  keepRecent(expected: ReadonlySet<string>): void {
    this.#recent = new RecentCalls(expected);
  }

  apply(event: Event): void {
    const outdated = event.kind === 'request' && this.#recent?.outdated(this.exchanges, event);
    if (outdated) this.#forget(outdated);
    if (event.kind === 'loaded') this.toolsets.push(event);
    if (event.kind === 'exited') this.exits.push(event);
    for (const key of event.calls ?? []) this.#applyToCall(key, event);
    if (event.kind === 'request' && event.purpose === 'close') this.#closeThread(event);
    const misdirected = this.exchanges.get(this.namedByStray(event) ?? '');
    if (misdirected)
      this.exchanges.set(misdirected.key, { ...misdirected, misdirected: misdirected.misdirected + 1 });
    this.untracked.apply(event);
  }

  get first(): Exchange | undefined {
    return this.exchanges.values().next().value;
  }

  /** The part that concerns one call: its thread and its requests. */
  ofCall(exchange: Exchange): History {
    const { group_id } = exchange.invocation;
    const part = new History();
    part.exchanges.set(exchange.key, exchange);
    const thread = this.threads.get(group_id);
    if (thread) part.threads.set(group_id, thread);
    for (const request of this.untracked.ofCall(exchange.key)) part.untracked.begin(request);
    for (const request of this.untracked.ofThread(group_id)) part.untracked.begin(request);
    return part;
  }

  /** Drops the oldest calls beyond a limit, and the views of all threads. */
  #forget(outdated: ReadonlySet<string>): void {
    for (const key of outdated) this.exchanges.delete(key);
    for (const thread of this.threads.values()) {
      const calls = thread.calls.filter(key => this.exchanges.has(key));
      if (calls.length > 0) this.threads.set(thread.id, { ...thread, calls, views: new Map() });
      else if (this.threads.delete(thread.id)) this.#subscribed.delete(thread.id);
    }
  }

  #applyToCall(key: string, event: Event): void {
    const known = this.exchanges.get(key);
    const stepped = this.#step(key, known, event);
    if (!stepped) return;
    const arrival = stepped.arrivals === known?.arrivals ? undefined : stepped.arrivals.at(-1);
    const thread = this.threads.get(stepped.invocation.group_id);
    if (event.kind === 'request' && arrival && thread)
      this.threads.set(thread.id, withView(thread, key, arrival));
  }

  /** Ends the subscriptions of the thread's calls. */
  #closeThread(event: RequestEvent): void {
    const thread = event.thread === undefined ? undefined : this.threads.get(event.thread);
    if (!thread) return;
    this.threads.set(thread.id, { ...thread, closedAt: thread.closedAt ?? event.at });
    for (const key of this.#subscribed.get(thread.id) ?? []) {
      this.#step(key, this.exchanges.get(key), event);
    }
  }

  #step(key: string, known: Exchange | undefined, event: Event): Exchange | undefined {
    const exchange = foldExchange(key, known, event, this.#redact);
    if (!exchange) return undefined;
    const { invocation, subscription } = exchange;
    const { group_id: id } = invocation;
    this.exchanges.set(key, exchange);
    if (!known) this.threads.set(id, withCall(this.threads.get(id), exchange));
    if (subscription === (known?.subscription ?? null)) return exchange;
    const subscribed = this.#subscribed.get(id) ?? new Set();
    this.#subscribed.set(id, subscribed);
    if (subscription && !subscription.ended) subscribed.add(key);
    else subscribed.delete(key);
    return exchange;
  }
}
