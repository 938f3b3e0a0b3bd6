import { BoundedStore } from '../util/collections.js';
import { Content } from './content.js';
import type { Event, RequestEvent } from './events.js';
import { stepToolCall, type ToolCall, typeOfDelivery } from './tool-call.js';

/** The total size of the parts of an event that a remote side can make large. */
function weightOf(event: Event): number {
  if (event.kind !== 'request' && event.kind !== 'response') return textLength(event);
  const { body, headers, calls, thread } = event;
  let weight = (body?.size ?? 0) + (event.kind === 'request' ? event.url.length : 0);
  weight += thread?.length ?? 0;
  if (calls) for (const key of calls) weight += key.length;
  for (const name in headers) weight += name.length + (headers[name]?.length ?? 0);
  return weight;
}

function textLength(holder: object): number {
  let length = 0;
  for (const key in holder) {
    const value: unknown = holder[key as keyof typeof holder];
    if (typeof value === 'string') length += value.length;
    else if (typeof value === 'object' && value !== null) length += textLength(value);
  }
  return length;
}

/** A copy of the event whose body caches nothing in the stored event, such as parsed JSON. */
export function unread(event: Event): Event {
  return 'body' in event && event.body ? { ...event, body: new Content(event.body.bytes) } : event;
}

/** Sizes in bytes of bodies and texts. */
const MAX_FILES = { count: 2_000, size: 32 * 1024 * 1024 };

const MAX_OF_CALL = { events: 1_000, bytes: 16 * 1024 * 1024 };

/** The stored events of one call. Events are appended in place; after old events are dropped, it is a new object. */
export interface CallFile {
  readonly events: readonly Event[];
  readonly forgotten: number;
  /** The latest discovery request and its response before the call; may be empty. */
  readonly discovery: readonly Event[];
}

/** The events of the latest calls, in bounded memory. */
export class RecentEvents {
  readonly #calls = new BoundedStore<string, CallFile & { readonly events: Event[] }>(MAX_FILES);
  #request: RequestEvent | null = null;
  #discovery: readonly Event[] = [];

  apply(event: Event): void {
    if (event.kind === 'request' && event.purpose === 'discovery') this.#request = event;
    else if (event.kind === 'response' && event.leg === this.#request?.leg)
      this.#discovery = [this.#request, event];
    for (const key of event.calls ?? []) this.#add(key, event);
  }

  of(key: string): CallFile | undefined {
    return this.#calls.get(key);
  }

  #add(key: string, event: Event): void {
    const known = this.#calls.get(key);
    if (!known && !isInvocation(event)) return;
    const file = known ?? { events: [], forgotten: 0, discovery: this.#discovery };
    file.events.push(event);
    const size = this.#calls.sizeOf(key) + weightOf(event);
    if (file.events.length <= MAX_OF_CALL.events && size <= MAX_OF_CALL.bytes)
      this.#calls.set(key, file, size);
    else this.#shorten(key, file, size);
  }

  /** Drops a quarter at a time, so that not every event copies the list; keeps invocations, their responses and the latest event. */
  #shorten(key: string, file: CallFile, before: number): void {
    const { events: most, bytes } = MAX_OF_CALL;
    const legs = new Set(file.events.flatMap(event => (isInvocation(event) ? [event.leg] : [])));
    const dropped = new Set<Event>();
    let size = before;
    for (const event of file.events.slice(0, -1)) {
      if (size <= bytes * 0.75 && file.events.length - dropped.size <= most * 0.75) break;
      if ('leg' in event && legs.has(event.leg ?? '')) continue;
      dropped.add(event);
      size -= weightOf(event);
    }
    const events = file.events.filter(event => !dropped.has(event));
    this.#calls.set(key, { ...file, events, forgotten: file.forgotten + dropped.size }, size);
  }
}

function isInvocation(event: Event): event is RequestEvent {
  return event.kind === 'request' && event.purpose === 'invocation';
}

/** The latest events, in bounded memory. */
export class EventRing {
  readonly #limits: { readonly events: number; readonly bytes: number };
  /** Events with their weights: those before `#first` are dropped. Faster than a map from which the oldest are deleted. */
  #events: (Event | undefined)[] = [];
  #weights: number[] = [];
  #first = 0;
  #weight = 0;
  #forgotten = 0;
  #latestBody: Content | undefined;

  constructor({ events = 10_000, bytes = 16 * 1024 * 1024 } = {}) {
    this.#limits = { events, bytes };
  }

  /** Takes constant time. A body larger than the whole ring is removed from its event. */
  push(event: Event): void {
    const { events, bytes } = this.#limits;
    const weight = this.#weigh(event);
    if (weight <= bytes) this.#add(event, weight);
    else {
      const kept = 'body' in event ? ({ ...event, body: undefined } as Event) : event;
      this.#add(kept, weightOf(kept));
    }
    while (this.#count > 1 && (this.#count > events || this.#weight > bytes)) this.#dropOldest();
  }

  /** Oldest first, with bodies that the caller may read without filling the ring's memory. */
  get events(): Event[] {
    return this.kept.map(unread);
  }

  /** The stored events themselves, for callers that do not read their bodies. */
  get kept(): Event[] {
    return this.#events.slice(this.#first) as Event[]; // none of them is dropped
  }

  /** The number of dropped events since the last {@link clear}. */
  get forgotten(): number {
    return this.#forgotten;
  }

  clear(): void {
    this.#events = [];
    this.#weights = [];
    this.#first = this.#weight = this.#forgotten = 0;
    this.#latestBody = undefined;
  }

  get #count(): number {
    return this.#events.length - this.#first;
  }

  #add(event: Event, weight: number): void {
    this.#events.push(event);
    this.#weights.push(weight);
    this.#weight += weight;
  }

  #dropOldest(): void {
    this.#weight -= this.#weights[this.#first] ?? 0;
    this.#events[this.#first++] = undefined;
    this.#forgotten++;
    if (this.#first <= this.#limits.events) return;
    this.#events = this.#events.slice(this.#first);
    this.#weights = this.#weights.slice(this.#first);
    this.#first = 0;
  }

  /** Consecutive responses often share one body (a polled toolset): it is counted once. */
  #weigh(event: Event): number {
    const weight = weightOf(event);
    if (event.kind !== 'response' || !event.body || weight > this.#limits.bytes) return weight;
    const isShared = event.body === this.#latestBody;
    this.#latestBody = event.body;
    return isShared ? weight - event.body.size : weight;
  }
}

interface RecentLimits {
  readonly calls: number;
  readonly bytes: number;
  /** Maximum number per call; a tool result is always kept. */
  readonly callbacks: number;
}

/** The latest calls, folded from events in bounded memory. */
export class RecentCalls {
  readonly #callbacks: number;
  readonly #calls: BoundedStore<string, { readonly call: ToolCall; readonly received: number }>;

  constructor({ calls = 2_000, bytes = 32 * 1024 * 1024, callbacks = 200 }: Partial<RecentLimits> = {}) {
    this.#callbacks = callbacks;
    this.#calls = new BoundedStore({ count: calls, size: bytes });
  }

  apply(event: Event): void {
    for (const key of event.calls ?? []) this.#step(key, event);
  }

  get(key: string): ToolCall | undefined {
    return this.#calls.get(key)?.call;
  }

  get list(): readonly ToolCall[] {
    return this.#calls.values().map(({ call }) => call);
  }

  #step(key: string, event: Event): void {
    const known = this.#calls.get(key);
    const next = stepToolCall(key, known?.call, event);
    if (!next) return;
    const call = shortened(next, this.#callbacks);
    const received = known?.received ?? (event.kind === 'request' ? (event.body?.size ?? 0) : 0);
    const isGrown = event.kind === 'request' || !known;
    const size = isGrown ? received + callbackBytes(call) : this.#calls.sizeOf(key);
    this.#calls.set(key, { call, received }, size);
  }
}

/** Drops a quarter at a time, so that not every callback of a long call copies the list. */
function shortened(call: ToolCall, most: number): ToolCall {
  const { deliveries, warnings, dropped, plans } = call;
  const lists = { warnings: warnings.slice(-most), dropped: dropped.slice(-most), plans: plans.slice(-most) };
  if (deliveries.length <= most) return { ...call, ...lists };
  const from = deliveries.length - Math.ceil(most * 0.75);
  const kept = deliveries.filter((each, index) => index >= from || typeOfDelivery(each) === 'tool_result');
  return { ...call, ...lists, deliveries: kept, forgotten: call.forgotten + deliveries.length - kept.length };
}

function callbackBytes({ deliveries }: ToolCall): number {
  return deliveries.reduce((sum, { body }) => sum + (body?.size ?? 0), 0);
}
