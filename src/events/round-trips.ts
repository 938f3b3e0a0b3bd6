import { isSuccess } from '../protocol/http-status.js';
import type { EndEvent, Event, EventOf, RequestEvent, ResponseEvent } from './events.js';

/** A request by its id, and its end once that is known. Times in ms since the start. */
export interface SentRequest {
  readonly leg: string;
  readonly at: number;
  readonly endedAt?: number;
  readonly status?: number;
  /** The error code if there was no response; the request may have arrived. */
  readonly broken?: string;
}

/** Whether the receiver accepted this attempt. */
export function isAccepted({ status = 0 }: SentRequest): boolean {
  return isSuccess(status);
}

export function endOf(event: EndEvent): Pick<SentRequest, 'endedAt' | 'status' | 'broken'> {
  return {
    endedAt: event.at,
    ...(event.kind === 'response' ? { status: event.status } : { broken: event.code }),
  };
}

/** A request, and its response or error; neither while it is in progress. */
export class RoundTrip {
  constructor(
    readonly request: RequestEvent,
    readonly end: EndEvent | null,
  ) {}

  get response(): ResponseEvent | null {
    return this.end?.kind === 'response' ? this.end : null;
  }

  get broken(): EventOf<'broken'> | null {
    return this.end?.kind === 'broken' ? this.end : null;
  }

  get status(): number | null {
    return this.response?.status ?? null;
  }

  /** The time of its last event. */
  get latestAt(): number {
    return (this.end ?? this.request).at;
  }

  /** The `seq` of its last event. */
  get lastSeq(): number {
    return (this.end ?? this.request).seq;
  }

  /** The `seq` of each of its events. */
  get events(): number[] {
    return this.end ? [this.request.seq, this.end.seq] : [this.request.seq];
  }

  /** Answered 5xx or lost: the sender may retry. */
  get isFailed(): boolean {
    return this.broken !== null || (this.status ?? 0) >= 500;
  }

  /** Answered 4xx: the sender must not retry. */
  get isRefused(): boolean {
    return this.status !== null && this.status >= 400 && this.status < 500;
  }

  /** Answered 3xx: runtimes do not follow redirects. */
  get isRedirected(): boolean {
    return this.status !== null && this.status >= 300 && this.status < 400;
  }

  /** How the connection failed; null if it did not. `cut`: the other side closed it. */
  get failure(): 'aborted' | 'timed-out' | 'cut' | 'failed' | null {
    if (!this.broken) return null;
    const { code, phase } = this.broken;
    if (code === 'ABORTED') return 'aborted';
    if (/^(?:ETIMEDOUT|UND_ERR_[A-Z]+_TIMEOUT)$/.test(code)) return 'timed-out';
    return (code === 'ECONNRESET' || code === 'EPIPE') && phase !== 'connect' ? 'cut' : 'failed';
  }

  /** The request never reached the other side. */
  get isUnsent(): boolean {
    return this.broken?.phase === 'connect' || this.broken?.phase === 'address';
  }

  /** The JSON value of the request; undefined if absent. */
  get sentJson(): unknown {
    const json = this.request.body?.json;
    return json?.ok ? json.value : undefined;
  }

  /** The size of the response body in bytes, as far as it is known. */
  get responseSize(): number {
    return this.response?.body?.size ?? Number(this.response?.headers['content-length'] ?? 0);
  }
}

/** Whether a message had a body that the recording does not have. */
export function isBodyLost(event: RequestEvent | ResponseEvent): boolean {
  if (event.body) return false;
  return 'body' in event || Number(event.headers['content-length'] ?? 0) > 0;
}

/** The round trips in a list of events by request id, in the order of their requests. */
export function roundTripsIn(events: readonly Event[]): ReadonlyMap<string, RoundTrip> {
  const ends = new Map<string, EndEvent>();
  for (const event of events)
    if (event.kind === 'response' || event.kind === 'broken') ends.set(event.leg, event);
  const trips = new Map<string, RoundTrip>();
  for (const event of events)
    if (event.kind === 'request') trips.set(event.leg, new RoundTrip(event, ends.get(event.leg) ?? null));
  return trips;
}

/** The round trips in events that arrive one after the other: as {@link roundTripsIn}, without reading earlier events again. */
export class RoundTrips {
  readonly #byId = new Map<string, RoundTrip>();

  /** In the order of their requests. A round trip that ends is another object. */
  get list(): Iterable<RoundTrip> {
    return this.#byId.values();
  }

  get size(): number {
    return this.#byId.size;
  }

  add(event: Event): void {
    if (event.kind === 'request') this.#byId.set(event.leg, new RoundTrip(event, null));
    if (event.kind !== 'response' && event.kind !== 'broken') return;
    const known = this.#byId.get(event.leg);
    if (known) this.#byId.set(event.leg, new RoundTrip(known.request, event));
  }
}

/** The events on one side of a recorder, which sees each message twice; all events if the two had no recorder between them. */
export function eventsOnSide(
  side: NonNullable<RequestEvent['hop']>,
  events: readonly Event[],
): readonly Event[] {
  const elsewhere = new Set<string | undefined>();
  for (const event of events)
    if (event.kind === 'request' && event.hop !== undefined && event.hop !== side) elsewhere.add(event.leg);
  return elsewhere.size === 0
    ? events
    : events.filter(event => !('leg' in event && elsewhere.has(event.leg)));
}
