import { WaitingLine } from '../text/waiting-line.js';
import { weightOf } from './event-weight.js';
import type { Event, RequestEvent } from './events.js';

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
