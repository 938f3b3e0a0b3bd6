import { Content } from './content.js';
import type { Body, Event, Fact, RequestEvent, ResponseEvent } from './events.js';

/** If a listener throws, the first error is logged as a `warned` event, and the listener still receives events. */
export type Listener = (event: Event) => void;

/**
 * Stores events, one after the other. A message must not be acknowledged if its event could not be stored: a full disk
 * becomes a 503.
 */
type StoreEvent = (event: Event) => Promise<void>;

/** Takes events as they are emitted and stores them in groups, with one write per group. */
export interface EventStore {
  take(event: Event): void;
  /** Resolves once everything taken so far is stored. May reject now and succeed later. */
  stored(): Promise<void>;
}

/** Numbers and timestamps events, and passes them on in order. */
export interface Log {
  /** Changes the fact into the event, so each fact can be emitted only once. */
  emit(fact: Fact): Event;
  /** Returns a new id for a request and its response. */
  leg(): string;
  /** Returns a function that ends the subscription. */
  subscribe(listener: Listener): () => void;
  storeEventsIn(next: StoreEvent | EventStore): void;
  /** Resolves once everything emitted so far is stored; rejects with its error. */
  stored(): Promise<void>;
  /** Resolves to the status once everything so far is stored; to 503 if that failed, so that the sender sends its message again. */
  statusOnceStored(status: number): Promise<number>;
}

/** What the log adds to a fact. */
interface Stamp {
  seq: number;
  at: number;
  stalled?: number | undefined;
}

const ALREADY_STORED = Promise.resolve();

/**
 * `now` is a monotonic clock in milliseconds; times in events count from this call.
 * @param runnable the part of this time in which this process could run; default: all
 */
export function createLog(now: () => number, runnable?: () => number): Log {
  const start = now();
  const runnableStart = runnable?.() ?? 0;
  let listeners: readonly Listener[] = [];
  let store: EventStore | null = null;
  let seq = 0;
  let legs = 0;
  const waiting: Event[] = [];
  let isNotifying = false;
  const failed = new WeakSet<Listener>();
  const reportOnce = (listener: Listener, error: unknown) => {
    if (failed.has(listener)) return;
    failed.add(listener);
    const why = error instanceof Error ? error.message : String(error);
    log.emit({ kind: 'warned', message: `a listener failed: ${why}` });
  };
  // An event that a listener emits is queued, so that all listeners get all events in the same order.
  const notify = (first: Event) => {
    isNotifying = true;
    try {
      for (let event: Event | undefined = first; event; event = waiting.shift())
        for (const listener of listeners)
          try {
            listener(event);
          } catch (error) {
            reportOnce(listener, error);
          }
    } finally {
      isNotifying = false;
    }
  };
  const log: Log = {
    emit(fact) {
      const event = fact as Event & Stamp; // not copied: a copy would cost as much as the rest of this function
      event.seq = seq++;
      event.at = Math.round((now() - start) * 1_000) / 1_000; // the measurement is precise to a microsecond
      if (runnable) {
        const stalled = Math.round(event.at - (runnable() - runnableStart));
        if (stalled > 0) event.stalled = stalled;
      }
      store?.take(event);
      if (isNotifying) waiting.push(event);
      else notify(event);
      return event;
    },
    leg: () => `l${++legs}`,
    subscribe(listener) {
      listeners = [...listeners, listener];
      return () => {
        listeners = listeners.filter(each => each !== listener);
      };
    },
    storeEventsIn(next) {
      store = typeof next === 'function' ? sequentialStore(next) : next;
    },
    stored: () => store?.stored() ?? ALREADY_STORED,
    statusOnceStored: status =>
      log.stored().then(
        () => status,
        () => 503,
      ),
  };
  return log;
}

/** After the first failure, no further event is stored. */
function sequentialStore(storeEvent: StoreEvent): EventStore {
  let storing: Promise<void> = Promise.resolve();
  return {
    take(event) {
      storing = storing.then(() => storeEvent(event));
      storing.catch(() => {}); // reported by `stored()`
    },
    stored: () => storing,
  };
}

/** A request event before it is stamped. */
export type RequestFact = Omit<RequestEvent, 'kind' | 'seq' | 'at' | 'leg' | 'attempt'> & {
  /** Default: 1. */
  readonly attempt?: number;
};

interface ResponseParts {
  readonly headers?: ResponseEvent['headers'];
  readonly body?: Body | undefined;
  readonly refusal?: string | undefined;
}

const NO_HEADERS: ResponseEvent['headers'] = Object.freeze({});

/** A request in the log, to which its response or its failure is added. */
export class RecordedRequest {
  readonly leg: string;
  readonly #calls: RequestFact['calls'];
  readonly #thread: RequestFact['thread'];

  /** Emits the request. */
  constructor(
    private readonly log: Log,
    request: RequestFact,
  ) {
    this.leg = log.leg();
    this.#calls = request.calls;
    this.#thread = request.thread;
    const { from, to, purpose, dialect, hop, method, url, headers, attempt = 1 } = request;
    const { body, turn, calls, thread } = request;
    const { leg } = this;
    // no spread syntax: this runs for every message
    log.emit({
      kind: 'request',
      leg,
      from,
      to,
      purpose,
      dialect,
      hop,
      method,
      url,
      headers,
      attempt,
      calls,
      thread,
      body,
      turn,
    });
  }

  recordResponse(status: number, { headers = NO_HEADERS, body, refusal }: ResponseParts = {}): void {
    const { leg } = this;
    const [calls, thread] = [this.#calls, this.#thread];
    this.log.emit({ kind: 'response', leg, status, headers, calls, thread, body, refusal });
  }

  recordBroken(phase: string, code: string): void {
    this.log.emit({ kind: 'broken', leg: this.leg, phase, code, calls: this.#calls, thread: this.#thread });
  }

  /** Logs the response or the failure of a request that is sent. @param shown changes the headers for the log */
  async recordSending<Answer extends Message & { readonly status: number }>(
    sending: Promise<Answer>,
    shown = (headers: ResponseEvent['headers']) => headers,
  ): Promise<Answer> {
    try {
      const answer = await sending;
      this.recordResponse(answer.status, { headers: shown(answer.headers), body: loggedBody(answer) });
      return answer;
    } catch (error) {
      this.recordFailure(error);
      throw error;
    }
  }

  /** As {@link recordBroken}, with the phase and code of a `TransportError`. */
  recordFailure(error: unknown): void {
    const known = error instanceof Error && error.name === 'TransportError' ? error : {};
    const { phase = 'send', code = 'UNKNOWN' }: { phase?: string; code?: string } = known;
    this.recordBroken(phase, code);
  }
}

interface Message {
  readonly headers: ResponseEvent['headers'];
  readonly body: Uint8Array;
}

/** The body of a response for the log. An encoded body is omitted, because secrets could not be redacted in it. */
export function loggedBody({ headers, body }: Message): Body | undefined {
  const { 'content-encoding': encoding = 'identity' } = headers;
  return body.length > 0 && encoding.trim().toLowerCase() === 'identity' ? new Content(body) : undefined;
}

/** The head of a request as our server received it. */
export interface ArrivedRequest extends Pick<RequestFact, 'method' | 'headers'> {
  readonly target: string;
  /** Calls back once if the connection closes before the answer is sent. */
  onGone(callback: () => void): void;
}

/** What the log shows of an arrived request; by default it shows the URL and headers as received. */
export type ArrivedFact = Omit<RequestFact, keyof ArrivedRequest | 'url'> &
  Partial<Pick<RequestFact, 'url' | 'headers'>>;

/** A request that arrived at one of our servers, in the log with our answer. */
export class ServedRequest extends RecordedRequest {
  constructor(
    log: Log,
    readonly incoming: ArrivedRequest,
    about: ArrivedFact,
  ) {
    const { method, target: url, headers } = incoming;
    super(log, { method, url, headers, ...about });
  }

  /** Logs the answer and returns it. @param logged what the log shows besides the status */
  answer<Parts extends object>(status: number, parts?: Parts, logged?: ResponseParts) {
    this.recordResponse(status, logged);
    return { status, ...parts };
  }

  /** Logs that the connection broke without an answer; by default because the sender disconnected. */
  reset(code = 'ECONNRESET'): 'reset' {
    this.recordBroken('answer', code);
    return 'reset';
  }
}
