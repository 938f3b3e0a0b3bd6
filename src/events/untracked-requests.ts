import { BoundedStore } from '../util/collections.js';
import { LIMITS } from '../util/limits.js';
import type { EndEvent, Event, RequestEvent } from './events.js';
import { endOf, type SentRequest } from './round-trips.js';

/** A request outside a call: discovery, a notice, or a POST to an unknown callback URL. */
export interface UntrackedRequest
  extends SentRequest,
    Pick<RequestEvent, 'purpose' | 'method' | 'url' | 'thread'> {
  readonly calls: readonly string[];
  readonly refusal?: string;
}

/** The latest requests outside calls, oldest first. */
export class UntrackedRequests {
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
