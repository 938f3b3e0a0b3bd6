import { WaitingLine } from '../util/waiting-line.js';
import { Content } from './content.js';
import type { Event, RequestEvent } from './events.js';
import type { Arrival, Exchange } from './exchange.js';
import { openQuestions, withQuestions } from './questions.js';
import { stepToolCall, type ToolCall, typeOfDelivery } from './tool-call.js';

/** Bytes of bodies and texts: what can be large, and comes from outside. */
export function weightOf(event: Event): number {
  if (event.kind !== 'request' && event.kind !== 'response') return lengthOf(event);
  const { body, headers, calls, thread } = event;
  let weight = (body?.size ?? 0) + (event.kind === 'request' ? event.url.length : 0);
  weight += (calls ? lengthOf(calls) : 0) + (thread?.length ?? 0);
  for (const name in headers) weight += name.length + (headers[name]?.length ?? 0);
  return weight;
}

/** Of all texts inside, of which most are short. */
function lengthOf(holder: object): number {
  let length = 0;
  for (const value of Object.values(holder)) {
    if (typeof value === 'string') length += value.length;
    else if (typeof value === 'object' && value !== null) length += lengthOf(value);
  }
  return length;
}

/** With a body of its own: what is read of it does not stay with the bytes, which are remembered. */
export function unread(event: Event): Event {
  return 'body' in event && event.body ? { ...event, body: new Content(event.body.bytes) } : event;
}

export interface RecentEventLimits {
  readonly calls: number;
  /** Of bodies and texts. */
  readonly bytes: number;
  /** Of one call, which may go on for days: how many events, and how much of all bytes. */
  readonly eventsOfCall: number;
  readonly bytesOfCall: number;
}

const DEFAULTS: RecentEventLimits = {
  calls: 2_000,
  bytes: 32 * 1024 * 1024,
  eventsOfCall: 1_000,
  bytesOfCall: 16 * 1024 * 1024,
};

/** What is remembered of a call. It grows; where something of it is forgotten, another one takes its place. */
export interface CallFile {
  /** In the order in which they happened. */
  readonly events: readonly Event[];
  /** How many are not there any more. */
  readonly forgotten: number;
  /** How the tool was asked for its operations last, before the call came; nothing where it was not. */
  readonly discovery: readonly Event[];
}

interface Kept {
  readonly file: CallFile & { readonly events: Event[] };
  readonly weight: number;
}

/** The events of the latest calls as a tool tells of them one by one, in bounded memory however long that goes on: the oldest go first. */
export class RecentEvents {
  readonly #limits: RecentEventLimits;
  readonly #kept = new Map<string, Kept>();
  /** Keys, oldest first. */
  readonly #line = new WaitingLine<string>();
  #bytes = 0;
  #asked: RequestEvent | null = null;
  #discovery: readonly Event[] = [];

  constructor(limits: Partial<RecentEventLimits> = {}) {
    this.#limits = { ...DEFAULTS, ...limits };
  }

  apply(event: Event): void {
    this.#learn(event);
    for (const key of event.calls ?? []) this.#add(key, event);
    while (this.#kept.size > this.#limits.calls || (this.#bytes > this.#limits.bytes && this.#kept.size > 1))
      this.#forgetOldest();
  }

  of(key: string): CallFile | undefined {
    return this.#kept.get(key)?.file;
  }

  /** An answer that nobody waited for is that of an earlier question: the latest will have one too. */
  #learn(event: Event): void {
    if (event.kind === 'request' && event.purpose === 'discovery') this.#asked = event;
    else if (event.kind === 'response' && event.leg === this.#asked?.leg)
      this.#discovery = [this.#asked, event];
  }

  #add(key: string, event: Event): void {
    const before = this.#kept.get(key) ?? this.#begin(key, event);
    if (!before) return;
    before.file.events.push(event);
    const own = weightOf(event);
    const grown = { file: before.file, weight: before.weight + own };
    const kept = this.#isTooMuch(grown) ? this.#shortened(grown) : grown;
    this.#bytes += kept.weight - before.weight;
    this.#kept.set(key, kept);
  }

  /** The discovery is shared, and one for each set of fixtures: it weighs nothing here. */
  #begin(key: string, event: Event): Kept | null {
    if (!isInvocation(event)) return null;
    this.#line.push(key);
    return { file: { events: [], forgotten: 0, discovery: this.#discovery }, weight: 0 };
  }

  #isTooMuch({ file, weight }: Kept): boolean {
    return file.events.length > this.#limits.eventsOfCall || weight > this.#limits.bytesOfCall;
  }

  /** Down to three quarters, so that it is not done each time; what came stays, and so does the latest event. */
  #shortened({ file, weight: before }: Kept): Kept {
    const { eventsOfCall, bytesOfCall } = this.#limits;
    const legs = new Set(file.events.flatMap(event => (isInvocation(event) ? [event.leg] : [])));
    const gone = new Set<Event>();
    let weight = before;
    for (const event of file.events.slice(0, -1)) {
      const isLittle = weight <= bytesOfCall * 0.75;
      if (isLittle && file.events.length - gone.size <= eventsOfCall * 0.75) break;
      if ('leg' in event && legs.has(event.leg ?? '')) continue;
      gone.add(event);
      weight -= weightOf(event);
    }
    const events = file.events.filter(event => !gone.has(event));
    return { file: { ...file, events, forgotten: file.forgotten + gone.size }, weight };
  }

  #forgetOldest(): void {
    const key = this.#line.shift() ?? '';
    this.#bytes -= this.#kept.get(key)?.weight ?? 0;
    this.#kept.delete(key);
  }
}

function isInvocation(event: Event): event is RequestEvent {
  return event.kind === 'request' && event.purpose === 'invocation';
}

interface RingLimits {
  readonly events: number;
  /** Of bodies and texts: what can be large, and comes from outside. */
  readonly bytes: number;
}

const EVENT_RING_DEFAULTS: RingLimits = { events: 10_000, bytes: 16 * 1024 * 1024 };

/** The latest events, in bounded memory: the oldest go first, and what is gone is counted. */
export class EventRing {
  readonly #limits: RingLimits;
  /** A circle: the oldest is at `#first`. */
  readonly #places: (Event | undefined)[] = [];
  /** Of the same places, in bytes: to look at an event when it goes would cost more than to push it. */
  readonly #weights: number[] = [];
  #first = 0;
  #size = 0;
  #bytes = 0;
  #forgotten = 0;
  /** Of the latest answer that had one. */
  #answer: Content | undefined;

  constructor(limits: Partial<RingLimits> = {}) {
    this.#limits = { ...EVENT_RING_DEFAULTS, ...limits };
  }

  /** Takes constant time. A body larger than all there is room for is left out of its event, and the rest stays. */
  push(event: Event): void {
    const whole = this.#weigh(event);
    const kept = whole > this.#limits.bytes ? withoutBody(event) : event;
    const weight = kept === event ? whole : weightOf(kept);
    if (this.#size === this.#limits.events) this.#forgetOldest();
    const place = this.#placeOf(this.#size++);
    this.#places[place] = kept;
    this.#weights[place] = weight;
    this.#bytes += weight;
    while (this.#bytes > this.#limits.bytes && this.#size > 1) this.#forgetOldest();
  }

  /** Oldest first; a list of its own, with bodies of its own: what is read of them does not stay here with their bytes. */
  get events(): Event[] {
    return this.kept.map(unread);
  }

  /** As {@link events}, but the very events: for those who read no body of them, or a copy. */
  get kept(): Event[] {
    return Array.from({ length: this.#size }, (_, index) => this.#places[this.#placeOf(index)]).filter(
      event => event !== undefined,
    );
  }

  /** How many events were pushed and are not there any more, those that were cleared not counted. */
  get forgotten(): number {
    return this.#forgotten;
  }

  clear(): void {
    this.#places.length = 0;
    this.#first = 0;
    this.#size = 0;
    this.#bytes = 0;
    this.#forgotten = 0;
    this.#answer = undefined;
  }

  /** The very body of the answer before is held anyway: a toolset, for which some ask every second. */
  #weigh(event: Event): number {
    const weight = weightOf(event);
    if (event.kind !== 'response' || !event.body || weight > this.#limits.bytes) return weight;
    const isHeld = event.body === this.#answer;
    this.#answer = event.body;
    return isHeld ? weight - event.body.size : weight;
  }

  #placeOf(index: number): number {
    return (this.#first + index) % this.#limits.events;
  }

  #forgetOldest(): void {
    this.#bytes -= this.#weights[this.#first] ?? 0;
    this.#places[this.#first] = undefined;
    this.#first = this.#placeOf(1);
    this.#size--;
    this.#forgotten++;
  }
}

function withoutBody(event: Event): Event {
  return event.kind === 'request' || event.kind === 'response' ? { ...event, body: undefined } : event;
}

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

interface RecentLimits {
  readonly calls: number;
  /** Of bodies. */
  readonly bytes: number;
  /** Of one call: a subscription may go on for days. Its result is always kept. */
  readonly callbacks: number;
}

const RECENT_CALLS_DEFAULTS: RecentLimits = { calls: 2_000, bytes: 32 * 1024 * 1024, callbacks: 200 };

interface RecentCallsKept {
  readonly call: ToolCall;
  /** Bytes of its invocation. */
  readonly received: number;
  /** Bytes of that and of its callbacks. */
  readonly weight: number;
}

/** The latest calls as events tell of them one by one, in bounded memory however long that goes on: the oldest go first. */
export class RecentCalls {
  readonly #limits: RecentLimits;
  readonly #kept = new Map<string, RecentCallsKept>();
  /** Keys, oldest first. */
  readonly #line = new WaitingLine<string>();
  #bytes = 0;

  constructor(limits: Partial<RecentLimits> = {}) {
    this.#limits = { ...RECENT_CALLS_DEFAULTS, ...limits };
  }

  apply(event: Event): void {
    for (const key of event.calls ?? []) this.#step(key, event);
    while (this.#kept.size > this.#limits.calls || (this.#bytes > this.#limits.bytes && this.#kept.size > 1))
      this.#forgetOldest();
  }

  get(key: string): ToolCall | undefined {
    return this.#kept.get(key)?.call;
  }

  /** Oldest first; a list of its own. */
  get list(): readonly ToolCall[] {
    return Array.from(this.#kept.values(), ({ call }) => call);
  }

  #step(key: string, event: Event): void {
    const before = this.#kept.get(key);
    const next = stepToolCall(key, before?.call, event);
    if (!next) return;
    const call = shortened(next, this.#limits.callbacks);
    const received = before?.received ?? bodySize(event);
    const isHeavier = event.kind === 'request' || !before;
    const weight = isHeavier ? received + weightOfCallbacks(call) : before.weight;
    this.#bytes += weight - (before?.weight ?? 0);
    if (!before) this.#line.push(key);
    this.#kept.set(key, { call, received, weight });
  }

  #forgetOldest(): void {
    const key = this.#line.shift() ?? '';
    this.#bytes -= this.#kept.get(key)?.weight ?? 0;
    this.#kept.delete(key);
  }
}

/** A quarter goes at a time: not every callback of a long call is to cost a copy of all of them. */
function shortened(call: ToolCall, most: number): ToolCall {
  const { deliveries, warnings, dropped, plans } = call;
  const lists = {
    warnings: latest(warnings, most),
    dropped: latest(dropped, most),
    plans: latest(plans, most),
  };
  if (deliveries.length <= most) return { ...call, ...lists };
  const from = deliveries.length - Math.ceil(most * 0.75);
  const kept = deliveries.filter((each, index) => index >= from || typeOfDelivery(each) === 'tool_result');
  return { ...call, ...lists, deliveries: kept, forgotten: call.forgotten + deliveries.length - kept.length };
}

function latest<T>(list: readonly T[], most: number): readonly T[] {
  return list.length <= most ? list : list.slice(-most);
}

function weightOfCallbacks({ deliveries }: ToolCall): number {
  return deliveries.reduce((sum, { body }) => sum + (body?.size ?? 0), 0);
}

function bodySize(event: Event): number {
  return event.kind === 'request' ? (event.body?.size ?? 0) : 0;
}
