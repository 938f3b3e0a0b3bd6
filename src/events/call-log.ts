import { discoveryUrl } from '../protocol/toolset.js';
import type { Event, RequestEvent } from './events.js';
import { type Exchange, isUnderWay } from './exchange.js';
import { History } from './history.js';
import { eventsOnSide } from './round-trips.js';
import type { Observer, Transcript } from './transcript-reader.js';

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
