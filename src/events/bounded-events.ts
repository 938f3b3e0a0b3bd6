import { BoundedStore } from '../util/collections.js';
import { LIMITS } from '../util/limits.js';
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

/** A call of a mock with its events. Events are appended in place; after old ones are dropped, the list is a new one. */
interface RecentCall {
  readonly call: ToolCall;
  readonly events: readonly Event[];
  /** The number of dropped events. */
  readonly forgotten: number;
  /** The latest discovery request and its response before the call; may be empty. */
  readonly discovery: readonly Event[];
}

type Kept = RecentCall & { readonly events: Event[] };

/** The latest calls, folded from events in bounded memory. */
export class RecentCalls {
  readonly #calls = new BoundedStore<string, Kept>({
    count: LIMITS.callsKept.value,
    size: LIMITS.keptBytes.value,
  });
  #request: RequestEvent | null = null;
  #discovery: readonly Event[] = [];

  apply(event: Event): void {
    if (event.kind === 'request' && event.purpose === 'discovery') this.#request = event;
    else if (event.kind === 'response' && event.leg === this.#request?.leg)
      this.#discovery = [this.#request, event];
    for (const key of event.calls ?? []) this.#add(key, event);
  }

  get(key: string): RecentCall | undefined {
    return this.#calls.get(key);
  }

  /** Oldest first. */
  get keys(): string[] {
    return this.#calls.values().map(({ call }) => call.key);
  }

  #add(key: string, event: Event): void {
    const known = this.#calls.get(key);
    const call = stepToolCall(key, known?.call, event);
    if (!call) return;
    const recent = { events: [], forgotten: 0, discovery: this.#discovery, ...known, call };
    recent.events.push(event);
    const size = this.#calls.sizeOf(key) + weightOf(event);
    if (recent.events.length <= LIMITS.eventsOfCall.value && size <= LIMITS.keptBytes.value)
      this.#calls.set(key, recent, size);
    else this.#shorten(recent, size);
  }

  /** Drops a quarter at a time, so that few events copy the list; keeps the first and latest invocation, the result, and the latest event. */
  #shorten({ call, events, ...rest }: Kept, before: number): void {
    const result = call.deliveries.find(each => typeOfDelivery(each) === 'tool_result');
    const legs = new Set([call.acknowledgement, ...(result?.attempts ?? [])].map(({ leg }) => leg));
    const [first] = events;
    if (first?.kind === 'request') legs.add(first.leg);
    const dropped = new Set<Event>();
    let size = before;
    for (const event of events.slice(0, -1)) {
      const count = events.length - dropped.size;
      if (size <= LIMITS.keptBytes.value * 0.75 && count <= LIMITS.eventsOfCall.value * 0.75) break;
      if ('leg' in event && legs.has(event.leg ?? '')) continue;
      dropped.add(event);
      size -= weightOf(event);
    }
    const kept = events.filter(each => !dropped.has(each));
    const forgotten = rest.forgotten + dropped.size;
    this.#calls.set(call.key, { ...rest, call: shortened(call, kept), events: kept, forgotten }, size);
  }
}

/** The call without callbacks whose events were dropped. */
function shortened(call: ToolCall, events: readonly Event[]): ToolCall {
  const legs = new Set(events.map(event => ('leg' in event ? event.leg : undefined)));
  const deliveries = call.deliveries.filter(({ attempts }) => attempts.some(({ leg }) => legs.has(leg)));
  const most = events.length;
  return {
    ...call,
    deliveries,
    forgotten: call.forgotten + call.deliveries.length - deliveries.length,
    warnings: call.warnings.slice(-most),
    dropped: call.dropped.slice(-most),
    plans: call.plans.slice(-most),
    decisions: call.decisions.slice(-most),
  };
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

  constructor({ events = LIMITS.eventsKept.value, bytes = LIMITS.keptBytes.value } = {}) {
    this.#limits = { events, bytes };
  }

  /** Takes constant time. A body larger than the whole ring is removed from its event. */
  push(event: Event): void {
    const { events, bytes } = this.#limits;
    const weight = weightOf(event);
    if (weight <= bytes) this.#add(event, weight);
    else {
      const storedEvents = 'body' in event ? ({ ...event, body: undefined } as Event) : event;
      this.#add(storedEvents, weightOf(storedEvents));
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
}
