import { compactJson } from '../text/compact-json.js';
import { cut } from '../text/cut.js';
import { displayLine } from '../text/display-script/display-line.js';
import { type Errand, type ErrandEnd, Errands } from './errands.js';
import type { Event, InvocationEvent, RequestEvent } from './events.js';
import type { Exchange } from './exchange.js';
import { begin, step } from './step.js';
import { type Thread, withCall, withView } from './thread.js';

/** Characters of arguments in place of a line. */
const MOST_ARGUMENTS = 300;

export interface LoadedToolset {
  readonly at: number;
  readonly name: string;
  readonly base: string | null;
  readonly endpoint: string;
  readonly operations: readonly string[];
  readonly displayScripts?: Readonly<Record<string, string>>;
}

/**
 * Everything a list of events tells. Exchanges are values, replaced as they change; the index around them is mutable,
 * since copying it for each event would cost more than the events.
 */
export class History {
  readonly exchanges = new Map<string, Exchange>();
  /** By `group_id`: of all calls. */
  readonly threads = new Map<string, Thread>();
  readonly errands = new Errands();
  readonly toolsets: LoadedToolset[] = [];
  /** By thread, the keys of calls with an open subscription. */
  readonly #subscribed = new Map<string, Set<string>>();
  readonly #redact: (text: string) => string;

  /**
   * @param isWhole whether it is told all that happened; of what was lost in part, nothing is to blame for what it lacks
   * @param redact takes secrets out of a refusal, which our own words quote
   */
  constructor(
    readonly isWhole = true,
    redact: (text: string) => string = text => text,
  ) {
    this.#redact = redact;
  }

  apply(event: Event): void {
    this.errands.forgetTold();
    if (event.kind === 'loaded') this.toolsets.push(loadedToolset(event));
    for (const key of event.calls ?? []) this.#applyToCall(key, event);
    if (event.kind === 'request' && event.purpose === 'close') this.#closeThread(event);
    if (event.kind === 'request' && isErrand(event)) this.errands.begin(errand(event));
    else if (event.kind === 'response' || event.kind === 'broken')
      this.errands.end(event.leg, { endedAt: event.at, ...ending(event) });
  }

  /** The first exchange: the only one where a single call was made. */
  get first(): Exchange | undefined {
    return this.exchanges.values().next().value;
  }

  #applyToCall(key: string, event: Event): void {
    const known = this.exchanges.get(key) ?? this.#begin(key, event);
    if (!known) return;
    const stepped = this.#step(known, event);
    const arrival = stepped.arrivals === known.arrivals ? undefined : stepped.arrivals.at(-1);
    const thread = this.threads.get(known.invocation.group_id);
    if (event.kind === 'request' && arrival && thread)
      this.threads.set(thread.id, withView(thread, key, arrival));
  }

  #begin(key: string, event: Event): Exchange | null {
    const begun = canBegin(event) ? begin(key, event) : null;
    if (!begun) return null;
    const exchange = this.#shown(begun);
    const { group_id: id } = exchange.invocation;
    this.threads.set(id, withCall(this.threads.get(id), exchange));
    return exchange;
  }

  /** With the human line of the call, if its tool has a display script. */
  #shown(exchange: Exchange): Exchange {
    const { operation, arguments: args } = exchange.invocation;
    const { displayScripts: scripts = {} } =
      this.toolsets.findLast(({ endpoint }) => endpoint === exchange.endpoint) ?? {};
    const script = Object.hasOwn(scripts, operation) ? scripts[operation] : undefined;
    if (script === undefined) return exchange;
    const line = displayLine(script, args);
    return { ...exchange, shown: line ?? `${operation}(${cut(compactJson(args) ?? '', MOST_ARGUMENTS)})` };
  }

  /** All that its calls had subscribed to ends with a thread. */
  #closeThread(event: RequestEvent): void {
    const thread = event.thread === undefined ? undefined : this.threads.get(event.thread);
    if (!thread) return;
    this.threads.set(thread.id, { ...thread, closedAt: thread.closedAt ?? event.at });
    for (const key of this.#subscribed.get(thread.id) ?? []) {
      const exchange = this.exchanges.get(key);
      if (exchange) this.#step(exchange, event);
    }
  }

  #step(exchange: Exchange, event: Event): Exchange {
    const stepped = step(exchange, event, this.#redact);
    const { key, invocation, subscription } = stepped;
    this.exchanges.set(key, stepped);
    if (subscription === exchange.subscription) return stepped;
    const subscribed = this.#subscribed.get(invocation.group_id) ?? new Set();
    this.#subscribed.set(invocation.group_id, subscribed);
    if (subscription && !subscription.ended) subscribed.add(key);
    else subscribed.delete(key);
    return stepped;
  }
}

function canBegin(event: Event): event is InvocationEvent {
  return event.kind === 'request' || event.kind === 'expected' || event.kind === 'denied';
}

function isErrand({ purpose, dialect, calls = [] }: RequestEvent): boolean {
  if (dialect !== undefined) return false; // another wire has its own story
  return purpose === 'callback' ? calls.length === 0 : purpose !== 'invocation';
}

function errand({ leg, purpose, method, url, calls = [], thread, at }: RequestEvent): Errand {
  return { leg, purpose, method, url, calls, ...(thread !== undefined && { thread }), at };
}

function ending(event: Extract<Event, { kind: 'response' | 'broken' }>): ErrandEnd {
  if (event.kind === 'broken') return { broken: event.code };
  return { status: event.status, ...(event.refusal === undefined ? {} : { refusal: event.refusal }) };
}

function loadedToolset({
  at,
  toolset,
  base,
  endpoint,
  operations,
  displayScripts,
}: Extract<Event, { kind: 'loaded' }>): LoadedToolset {
  return { at, name: toolset, base, endpoint, operations, ...(displayScripts && { displayScripts }) };
}
