import type { Content } from './content.js';
import { unread, weightOf } from './event-weight.js';
import type { Event } from './events.js';

export interface RingLimits {
  readonly events: number;
  /** Of bodies and texts: what can be large, and comes from outside. */
  readonly bytes: number;
}

const DEFAULTS: RingLimits = { events: 10_000, bytes: 16 * 1024 * 1024 };

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
    this.#limits = { ...DEFAULTS, ...limits };
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
