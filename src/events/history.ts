import type { ViewUpdate } from '../protocol/callbacks.js';
import { displayLine } from '../util/display-script/display-line.js';
import { compactJson, cut } from '../util/json-diagnosis.js';
import type { Event, InvocationEvent, RequestEvent } from './events.js';
import type { Arrival, Exchange } from './exchange.js';
import { begin, step } from './fold-exchange.js';

/** A request outside a call: discovery, a notice, or a POST to an unknown callback URL. */
export interface UntrackedRequest {
  readonly leg: string;
  readonly purpose: RequestEvent['purpose'];
  readonly method: string;
  readonly url: string;
  /** Keys of the calls concerned. */
  readonly calls: readonly string[];
  /** Of a notice to a thread. */
  readonly thread?: string;
  readonly at: number;
  readonly endedAt?: number;
  readonly status?: number;
  readonly broken?: string;
  readonly refusal?: string;
}

/** What became of an untrackedRequest. */
type ErrandEnd = Pick<UntrackedRequest, 'endedAt' | 'status' | 'broken' | 'refusal'>;

/**
 * A guesser may go on for days: the first posts say what is wrong. So may a tool that asks: the latest of its call's are told of, or of
 * its thread's.
 */
const ERRANDS_MOST = { strays: 500, ofOne: 200 };

/** UntrackedRequests by their leg, oldest first, and by whose they are. Of very many only some are kept. */
export class UntrackedRequests {
  readonly #byLeg = new Map<string, UntrackedRequest>();
  readonly #legsOf = new Map<string, string[]>();
  readonly #surplus = new Set<string>();
  #strays = 0;
  #forgotten = 0;
  #misdirected = 0;
  /** A surplus request that ended with the current event and is dropped at the next one. */
  #told: string | null = null;

  get size(): number {
    return this.#byLeg.size;
  }

  /** How many posts to a wrong address are not kept any more. */
  get misdirected(): number {
    return this.#misdirected;
  }

  /** How many others are not kept any more. */
  get forgotten(): number {
    return this.#forgotten;
  }

  /** Whether anything was posted to the listener that was no call's. */
  get hasStrays(): boolean {
    return this.#strays > 0;
  }

  get(leg: string): UntrackedRequest | undefined {
    return this.#byLeg.get(leg);
  }

  values(): IterableIterator<UntrackedRequest> {
    return this.#byLeg.values();
  }

  ofCall(key: string): UntrackedRequest[] {
    return this.#of(ofCall(key));
  }

  /** Of a thread as a whole, and of none of its calls. */
  ofThread(id: string): UntrackedRequest[] {
    return this.#of(ofThread(id));
  }

  begin(untrackedRequest: UntrackedRequest): void {
    this.#byLeg.set(untrackedRequest.leg, untrackedRequest);
    if (untrackedRequest.purpose === 'callback') this.#countStray(untrackedRequest.leg);
    else this.#index(untrackedRequest);
  }

  /** What is one too many can be looked up until the next event: see {@link forgetTold}. */
  end(leg: string, end: ErrandEnd): void {
    const known = this.#byLeg.get(leg);
    if (!known) return;
    this.#byLeg.set(leg, { ...known, ...end });
    if (this.#surplus.delete(leg)) this.#told = leg;
  }

  /** To be called before each event. */
  forgetTold(): void {
    if (this.#told !== null) this.#forget(this.#told);
    this.#told = null;
  }

  #countStray(leg: string): void {
    if (this.#strays >= ERRANDS_MOST.strays) this.#surplus.add(leg);
    else this.#strays++;
  }

  #index(untrackedRequest: UntrackedRequest): void {
    const owner = ownerOf(untrackedRequest);
    const legs = this.#legsOf.get(owner) ?? [];
    this.#legsOf.set(owner, legs);
    const oldest = legs.push(untrackedRequest.leg) > ERRANDS_MOST.ofOne ? legs.shift() : undefined;
    if (oldest !== undefined) this.#forget(oldest);
  }

  #of(owner: string): UntrackedRequest[] {
    return (this.#legsOf.get(owner) ?? []).flatMap(leg => this.#byLeg.get(leg) ?? []);
  }

  #forget(leg: string): void {
    if (this.#byLeg.get(leg)?.refusal === 'wrong-address') this.#misdirected++;
    else this.#forgotten++;
    this.#byLeg.delete(leg);
  }
}

const ofCall = (key: string) => `call ${key}`;
const ofThread = (id: string) => `thread ${id}`;

function ownerOf({ calls: [key], thread }: UntrackedRequest): string {
  if (key !== undefined) return ofCall(key);
  return thread === undefined ? '' : ofThread(thread);
}

/** The latest state of one view of a thread (RT-VIEW). */
export interface View {
  readonly type: string;
  /** Opaque (RT-VIEW). */
  readonly content: Readonly<Record<string, unknown>>;
  /** Ms since the start. */
  readonly at: number;
  /** The call at whose callback URL it came. */
  readonly call: string;
  /** How many states it has had. */
  readonly updates: number;
  /** Bytes of the callback. */
  readonly size: number;
}

/** A conversation: its calls, and what its tools show beside their results. */
export interface Thread {
  readonly id: string;
  /** Root first, the parent last. */
  readonly ancestors: readonly string[];
  /** Keys, in the order in which they were made. */
  readonly calls: readonly string[];
  /** By type; one that was cleared is not there. */
  readonly views: ReadonlyMap<string, View>;
  readonly closedAt: number | null;
}

/** A thread with one more call; the first one begins it. */
function withCall(thread: Thread | undefined, { key, invocation }: Exchange): Thread {
  const { group_id: id, thread_ancestors } = invocation;
  const begun = thread ?? { id, ancestors: [], calls: [], views: new Map(), closedAt: null };
  return { ...begun, ancestors: thread_ancestors ?? begun.ancestors, calls: [...begun.calls, key] };
}

/** A thread after a view that counts. */
function withView(thread: Thread, call: string, { at, message, verdict, size }: Arrival): Thread {
  if (verdict.kind !== 'noted' || message?.type !== 'view_update') return thread;
  return { ...thread, views: withUpdate(thread.views, message, { at, call, size }) };
}

/** Views after one more: it takes the place of the one of its type, and clears it where it is empty. */
export function withUpdate(
  views: Thread['views'],
  { view_type: type, content }: ViewUpdate,
  from: Pick<View, 'at' | 'call' | 'size'>,
): Thread['views'] {
  const next = new Map(views);
  const updates = (views.get(type)?.updates ?? 0) + 1;
  if (Object.keys(content).length === 0) next.delete(type);
  else next.set(type, { type, content, updates, ...from });
  let bytes = 0;
  for (const { size } of next.values()) bytes += size;
  for (const [oldest, { size }] of next) {
    if (next.size <= MOST.views && bytes <= MOST.bytes) break;
    if (oldest === type) continue;
    next.delete(oldest);
    bytes -= size;
  }
  return next;
}

/** Of one thread: a tool may name a new view type each time. Beyond this the oldest types are dropped. */
const MOST = { views: 64, bytes: 32 * 1024 * 1024 };

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
  readonly untracked = new UntrackedRequests();
  readonly toolsets: LoadedToolset[] = [];
  /** By thread, the keys of calls with an open subscription. */
  readonly #subscribed = new Map<string, Set<string>>();
  readonly #redact: (text: string) => string;

  /**
   * @param isWhole whether the events are complete; missing events are not failures in an incomplete recording
   * @param redact takes secrets out of a refusal, which our own words quote
   */
  constructor(
    readonly isWhole = true,
    redact: (text: string) => string = text => text,
  ) {
    this.#redact = redact;
  }

  apply(event: Event): void {
    this.untracked.forgetTold();
    if (event.kind === 'loaded') this.toolsets.push(loadedToolset(event));
    for (const key of event.calls ?? []) this.#applyToCall(key, event);
    if (event.kind === 'request' && event.purpose === 'close') this.#closeThread(event);
    if (event.kind === 'request' && isErrand(event)) this.untracked.begin(untrackedRequest(event));
    else if (event.kind === 'response' || event.kind === 'broken')
      this.untracked.end(event.leg, { endedAt: event.at, ...ending(event) });
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

function untrackedRequest({
  leg,
  purpose,
  method,
  url,
  calls = [],
  thread,
  at,
}: RequestEvent): UntrackedRequest {
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

/** Keys of calls; null stands for none. */
type Keys = readonly (string | null)[];

/**
 * Whose an event is: a closed thread concerns each of its calls, an answer whoever made the request. A request is remembered until it has
 * its answer: a session may go on for days.
 */
export class Owners {
  readonly #open = new Map<string, Keys>();

  /** @param history knows the event already, or all that there are */
  constructor(private readonly history: History) {}

  of(event: Event): Keys {
    const leg = 'leg' in event ? event.leg : undefined;
    if (leg === undefined) return this.#named(event);
    const keys = this.#open.get(leg) ?? this.#named(event);
    if (event.kind === 'request') this.#open.set(leg, keys);
    else this.#open.delete(leg);
    return keys;
  }

  /** How many requests wait for an answer. */
  get waiting(): number {
    return this.#open.size;
  }

  #named({ calls = [], thread = '' }: Event): Keys {
    const named = [...new Set(calls)].filter(key => this.history.exchanges.has(key));
    const keys = named.length > 0 ? named : (this.history.threads.get(thread)?.calls ?? []);
    return keys.length > 0 ? keys : [null];
  }
}
