import { type Callback, callNamedIn } from '../protocol/callbacks.js';
import { discoveryUrl } from '../protocol/toolset.js';
import { BoundedStore } from '../util/collections.js';
import { LIMITS } from '../util/limits.js';
import type { EndEvent, Event, EventOf, RequestEvent } from './events.js';
import { type Arrival, type Exchange, isSubscribed, isUnderWay } from './exchange.js';
import { foldExchange } from './fold-exchange.js';
import { endOf, eventsOnSide, type SentRequest } from './round-trips.js';
import type { Observer, Transcript } from './transcript-reader.js';

/** A request outside a call: discovery, a notice, or a POST to an unknown callback URL. */
export interface UntrackedRequest
  extends SentRequest,
    Pick<RequestEvent, 'purpose' | 'method' | 'url' | 'thread'> {
  readonly calls: readonly string[];
  readonly refusal?: string;
}

/** The latest requests outside calls, oldest first. */
class UntrackedRequests {
  readonly #requests = new BoundedStore<string, UntrackedRequest>(
    { count: LIMITS.eventsOfCall.value, size: Number.POSITIVE_INFINITY },
    ({ refusal }) => {
      if (refusal === 'wrong-address') this.#misdirected++;
      else this.#forgotten++;
    },
  );
  #forgotten = 0;
  #misdirected = 0;
  #hasStrays = false;

  /** The number of dropped posts to a wrong address. */
  get misdirected(): number {
    return this.#misdirected;
  }

  /** The number of other dropped requests. */
  get forgotten(): number {
    return this.#forgotten;
  }

  /** Whether anything was posted to the listener outside of calls. */
  get hasStrays(): boolean {
    return this.#hasStrays;
  }

  get(leg: string): UntrackedRequest | undefined {
    return this.#requests.get(leg);
  }

  values(): UntrackedRequest[] {
    return this.#requests.values();
  }

  ofCall(key: string): UntrackedRequest[] {
    return this.values().filter(({ calls }) => calls[0] === key);
  }

  /** Requests about the thread, and not about one of its calls. */
  ofThread(id: string): UntrackedRequest[] {
    return this.values().filter(({ calls, thread }) => calls.length === 0 && thread === id);
  }

  apply(event: Event): void {
    if (event.kind === 'request') this.#onRequest(event);
    else if (event.kind === 'response' || event.kind === 'broken') this.#end(event);
  }

  #onRequest({ leg, purpose, dialect, method, url, calls = [], thread, at }: RequestEvent): void {
    const isOfCall = purpose === 'callback' ? calls.length > 0 : purpose === 'invocation';
    if (isOfCall || dialect !== undefined) return;
    const about = thread === undefined ? {} : { thread };
    this.begin({ leg, purpose, method, url, calls, ...about, at });
  }

  begin(request: UntrackedRequest): void {
    if (request.purpose === 'callback') this.#hasStrays = true;
    this.#requests.set(request.leg, request, 0);
  }

  #end(event: EndEvent): void {
    const known = this.get(event.leg);
    if (!known) return;
    const refusal = event.kind === 'response' ? event.refusal : undefined;
    const ended = { ...known, ...endOf(event), ...(refusal !== undefined && { refusal }) };
    this.#requests.set(event.leg, ended, 0);
  }
}

/** The latest state of one view of a thread (RT-VIEW). */
export interface View {
  readonly type: string;
  /** Opaque (RT-VIEW). */
  readonly content: Readonly<Record<string, unknown>>;
  readonly at: number;
  /** The call at whose callback URL it came. */
  readonly call: string;
  /** How many states it has had. */
  readonly updates: number;
  readonly size: number;
}

/** A conversation: its calls and views. */
export interface Thread {
  readonly id: string;
  /** Root first, the parent last. */
  readonly ancestors: readonly string[];
  readonly calls: readonly string[];
  readonly views: ReadonlyMap<string, View>;
  readonly closedAt: number | null;
}

/** Adds a call; the first one begins the thread. */
function withCall(thread: Thread | undefined, { key, invocation }: Exchange): Thread {
  const { group_id: id, thread_ancestors } = invocation;
  const begun = thread ?? { id, ancestors: [], calls: [], views: new Map(), closedAt: null };
  return { ...begun, ancestors: thread_ancestors ?? begun.ancestors, calls: [...begun.calls, key] };
}

/** Adds an accepted view. */
function withView(thread: Thread, call: string, { at, message, verdict, size }: Arrival): Thread {
  if (verdict.kind !== 'noted' || message?.type !== 'view_update') return thread;
  return { ...thread, views: withUpdate(thread.views, message, { at, call, size }) };
}

/** Replaces the view of the same type; empty content clears it. */
export function withUpdate(
  views: Thread['views'],
  { view_type: type, content }: Extract<Callback, { type: 'view_update' }>,
  from: Pick<View, 'at' | 'call' | 'size'>,
): Thread['views'] {
  const next = new Map(views);
  const updates = (views.get(type)?.updates ?? 0) + 1;
  if (Object.keys(content).length === 0) next.delete(type);
  else next.set(type, { type, content, updates, ...from });
  let bytes = 0;
  for (const { size } of next.values()) bytes += size;
  for (const [oldest, { size }] of next) {
    if (next.size <= LIMITS.eventsOfCall.value && bytes <= LIMITS.keptBytes.value) break;
    if (oldest === type) continue;
    next.delete(oldest);
    bytes -= size;
  }
  return next;
}

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
  #expected: ReadonlySet<string> | undefined;
  #bytes = 0;

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
    this.#expected = expected;
  }

  apply(event: Event): void {
    if (this.#expected && event.kind === 'request') this.#dropOld(this.#expected, event);
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

  /** Drops down to half of the limits, and open subscriptions only if nothing else is left. */
  #dropOld(expected: ReadonlySet<string>, { calls: current = [], body }: RequestEvent): void {
    this.#bytes += body?.size ?? 0;
    const { exchanges } = this;
    const isOver = (part: number) =>
      exchanges.size - expected.size > LIMITS.callsKept.value * part ||
      this.#bytes > LIMITS.keptBytes.value * part;
    if (!isOver(1)) return;
    this.#bytes = 0;
    for (const exchange of exchanges.values()) this.#bytes += sizeOf(exchange);
    const drop = (part: number, isKept: (exchange: Exchange) => boolean) => {
      for (const [key, exchange] of exchanges) {
        if (!isOver(part)) return;
        if (expected.has(key) || current.includes(key) || isKept(exchange)) continue;
        this.#bytes -= sizeOf(exchange);
        exchanges.delete(key);
      }
    };
    drop(0.5, isSubscribed);
    drop(1, () => false);
    for (const thread of this.threads.values()) {
      const calls = thread.calls.filter(key => exchanges.has(key));
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

function sizeOf({ arrivals }: Exchange): number {
  return arrivals.reduce((sum, { size }) => sum + size, 0);
}

interface CallLogOptions {
  readonly observer?: Observer | undefined;
  /** Whether the events come from a file (RT-OAUTH forbids some data only in files). */
  readonly isSaved?: boolean;
  /** As in {@link History}. */
  readonly isWhole?: boolean;
  /** For refusals, which our texts quote. */
  readonly redact?: (text: string) => string;
}

/** Events in memory, with an index by call and the history folded from them. */
export class CallLog {
  readonly history: History;
  readonly observer: Observer;
  readonly isSaved: boolean;
  readonly events: Event[] = [];
  /** Keys of calls, oldest first. */
  readonly keys: string[] = [];
  readonly #underWay = new Set<string>();
  readonly #byCall = new Map<string | null, Event[]>();
  /** The owners of requests without an answer yet. */
  readonly #open = new Map<string, readonly (string | null)[]>();

  /** @param both for a recording reduced to one side, the log of both sides */
  constructor(
    { observer = 'runtime', isSaved = false, isWhole = true, redact }: CallLogOptions = {},
    private readonly both?: CallLog,
  ) {
    this.observer = observer;
    this.isSaved = isSaved;
    this.history = new History(isWhole, redact);
  }

  /** The log of a transcript; for a recording, each message once, as the tool saw it. */
  static of({ header, events }: Transcript): CallLog {
    const about = { observer: header?.observer, isSaved: true };
    const once = eventsOnSide('tool-side', events);
    const whole = once === events ? undefined : new CallLog(about).#filled(events);
    return new CallLog(about, whole).#filled(once);
  }

  #filled(events: readonly Event[]): this {
    for (const event of events) this.apply(event);
    return this;
  }

  readonly apply = (event: Event): void => {
    this.history.apply(event);
    this.events.push(event);
    for (const key of this.#ownersOf(event)) this.#addTo(key, event);
  };

  /** For a recording, the log with each message on both sides. */
  get whole(): CallLog {
    return this.both ?? this;
  }

  /** The events of a call; for null, the events that belong to no call. */
  of(key: string | null): readonly Event[] {
    return this.#byCall.get(key) ?? [];
  }

  /**
   * What is relevant to a call: its own events, callbacks of no call that came while it was pending, and the discovery of its tool: at the
   * base URLs of its toolset, since an origin may have several; at any URL if no `loaded` event names the base, or for a recorder, which
   * has one tool.
   */
  concerning({ key, endpoint, settled }: Exchange): readonly Event[] {
    const own = this.of(key);
    const [first] = own;
    if (!first) return [];
    const others = this.of(null);
    const loaded = others
      .filter(event => event.kind === 'loaded')
      .filter(event => event.endpoint === endpoint && event.seq < first.seq);
    const urls = new Set(loaded.flatMap(({ base }) => (base === null ? [] : [discoveryUrl(base)])));
    const isRelevant = ({ purpose, at, seq, url, hop }: RequestEvent) => {
      if (purpose === 'callback') return at >= first.at && at <= (settled?.at ?? Number.POSITIVE_INFINITY);
      const isOfTool = urls.size === 0 || urls.has(url) || hop === 'runtime-side';
      return purpose === 'discovery' && seq < first.seq && isOfTool;
    };
    const legs = new Set<string | undefined>();
    for (const event of others) if (event.kind === 'request' && isRelevant(event)) legs.add(event.leg);
    const asked = others.filter(event => 'leg' in event && legs.has(event.leg));
    return [...loaded, ...asked, ...own].sort((one, other) => one.seq - other.seq);
  }

  /** Keys of the calls that are not finished, oldest first. */
  get underWay(): ReadonlySet<string> {
    return this.#underWay;
  }

  /** A response belongs to the calls of its request, a notice to all calls of its thread; null stands for no call. */
  #ownersOf(event: Event): readonly (string | null)[] {
    const leg = 'leg' in event ? event.leg : undefined;
    const keys = (leg !== undefined && this.#open.get(leg)) || this.#named(event);
    if (leg !== undefined && event.kind === 'request') this.#open.set(leg, keys);
    else if (leg !== undefined) this.#open.delete(leg);
    return keys;
  }

  #named(event: Event): readonly (string | null)[] {
    const stray = this.history.namedByStray(event);
    const { calls = stray === undefined ? [] : [stray], thread = '' } = event;
    const named = [...new Set(calls)].filter(key => this.history.exchanges.has(key));
    const keys = named.length > 0 ? named : (this.history.threads.get(thread)?.calls ?? []);
    return keys.length > 0 ? keys : [null];
  }

  #addTo(key: string | null, event: Event): void {
    const known = this.#byCall.get(key);
    if (known) known.push(event);
    else this.#byCall.set(key, [event]);
    if (!known && key !== null) this.keys.push(key);
    const exchange = key === null ? undefined : this.history.exchanges.get(key);
    if (!exchange) return;
    if (isUnderWay(exchange)) this.#underWay.add(exchange.key);
    else this.#underWay.delete(exchange.key);
  }
}

/** Numbers the events of several recordings consecutively, and makes their legs unique, so that they can form one list. */
export function renumbered(recordings: readonly (readonly Event[])[]): readonly (readonly Event[])[] {
  let next = 0;
  return recordings.map((events, index) => {
    const first = next - (events[0]?.seq ?? 0);
    const moved = events.map(event => movedTo(event, event.seq + first, index));
    next = (moved.at(-1)?.seq ?? next - 1) + 1;
    return moved;
  });
}

/** The first recording keeps its names. */
function movedTo(event: Event, seq: number, index: number): Event {
  if (index === 0) return { ...event, seq };
  const named = (name: string) => `${index + 1}/${name}`;
  const moved = { ...event, seq, ...(event.calls && { calls: event.calls.map(named) }) };
  if (moved.kind === 'decided' && moved.question !== undefined)
    return { ...moved, question: named(moved.question) };
  return 'leg' in moved && moved.leg !== undefined ? { ...moved, leg: named(moved.leg) } : moved;
}
