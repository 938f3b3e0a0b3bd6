import { Content } from '../events/content.js';
import type { Body, Turn } from '../events/events.js';
import { type Log, RecordedRequest } from '../events/log.js';
import type { DestinationCheck } from '../http/addresses.js';
import type { HttpAnswer, HttpClient, HttpRequest, ReadLimit } from '../http/client.js';
import { retryAfterMs } from '../http/retry-after.js';
import { TransportError } from '../http/transport-error.js';
import type { Clock } from '../system/clock.js';
import { messageOf } from '../util/errors.js';
import { LIMITS } from '../util/limits.js';
import { readUrl } from '../util/url.js';
import { type CallReference, Pauses } from './open-call.js';

/** Returns why a callback is not needed any more, or null. Called before each attempt. */
export type CancelReason = () => string | null;

/** A message to the runtime: the exact bytes and the exact address (TOOL-OPAQUE). */
export interface Callback {
  readonly about: Required<CallReference>;
  /** The callback URL, unchanged from the invocation. */
  readonly url: string;
  readonly body: Body;
  /** The type of the message; undefined if it is unreadable. */
  readonly type: string | undefined;
  /** Default: `application/json`; a fault may set another one. */
  readonly contentType?: string | undefined;
  /** `slow`: sends the body in small pieces over about two seconds. */
  readonly pace?: 'slow' | undefined;
  readonly cancelReason?: CancelReason | undefined;
  readonly turn?: Turn | undefined;
}

const STOPPED = 'the tool was stopped before it was delivered';

/** Limits requests per origin, first come first served, so that a slow receiver delays only its own callbacks. */
class Slots {
  readonly #origins = new Map<string, { active: number; readonly waiting: (() => void)[] }>();

  constructor(private readonly perOrigin: number) {}

  /** Resolves once it has a slot. */
  async take(name: string): Promise<void> {
    const origin = this.#origins.get(name);
    if (!origin) this.#origins.set(name, { active: 1, waiting: [] });
    else if (origin.active < this.perOrigin) origin.active++;
    else await new Promise<void>(resolve => origin.waiting.push(resolve));
  }

  leave(name: string): void {
    const origin = this.#origins.get(name);
    const next = origin?.waiting.shift();
    if (next) next();
    else if (origin && --origin.active === 0) this.#origins.delete(name);
  }
}

interface Failure {
  readonly why: string;
  /** Whether no further attempt can succeed. */
  readonly isFinal?: boolean;
  readonly retryAfter?: string | undefined;
  /** What is reported as dropped; default: the callback. */
  readonly what?: 'callback' | 'event';
}

/** Retries only 5xx (TOOL-RETRY, TOOL-NORETRY); redirects are not followed (threats, row 11). */
function failureIn({ status, headers }: HttpAnswer): Failure | null {
  if (status < 300) return null;
  const why = `the runtime answered ${status}`;
  if (status >= 500) return { why, retryAfter: headers['retry-after'] };
  return { why: `${why}; ${status < 400 ? 'redirects are not followed' : 'not retried'}`, isFinal: true };
}

const FINAL_CODES = new Set(['REFUSED_ADDRESS', 'BAD_URL', 'BAD_HEADER']);

/** No more files can be opened, by this process or on this machine. Such an attempt does not count as a retry (threats, row 33). */
const OWN_CODES = new Set(['EMFILE', 'ENFILE']);

export interface OutboxOptions {
  readonly log: Log;
  readonly client: HttpClient;
  readonly clock: Clock;
  /** Random number in [0, 1) for the jitter of pauses. */
  readonly random: () => number;
  readonly destinationProblem: DestinationCheck;
  readonly queueLimit: number;
  readonly perOrigin: number;
  readonly retries: number;
  /** Maximum pause between two attempts, in ms; also limits `Retry-After`. */
  readonly maxPauseMs: number;
  /** Timeout of one attempt, in ms, after which it frees its slot. */
  readonly timeoutMs: number;
}

const FIRST_PAUSE_MS = 200;

/** Delivers callbacks, with retries. A callback that cannot be delivered is always logged as `dropped` (threats, "Delivery faults"). */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #slots: Slots;
  readonly #pauses: Pauses;
  /** Null while deliveries are not paused; they then begin in the same tick. */
  #resumed: Promise<void> | null = null;
  #resume: () => void = () => {};
  #isClosed = false;
  #pending = 0;
  readonly #onIdle: (() => void)[] = [];

  constructor(options: OutboxOptions) {
    this.#options = options;
    this.#slots = new Slots(options.perOrigin);
    this.#pauses = new Pauses(options.clock);
  }

  /** Number of callbacks that were accepted and are neither delivered nor dropped. */
  get pending(): number {
    return this.#pending;
  }

  /** Resolves to true when the callback is delivered, or to false when it is dropped; rejects only after an error of ours. */
  post(callback: Callback): Promise<boolean> {
    const delivery = new Delivery(callback, this.#options.timeoutMs);
    const why = this.#problemWith(callback);
    return why === null ? this.#deliver(delivery) : Promise.resolve(this.#giveUp(delivery, { why }));
  }

  /** Starts no requests until {@link resume}. */
  pause(): void {
    this.#resumed ??= new Promise(resolve => {
      this.#resume = resolve;
    });
  }

  resume(): void {
    this.#resumed = null;
    this.#resume();
  }

  /** Ends all pauses. A callback that fails from now on is retried once, without a pause. */
  endPauses(): void {
    this.#pauses.endAll();
    this.resume();
  }

  idle(): Promise<void> {
    return this.#pending === 0 ? Promise.resolve() : new Promise(resolve => this.#onIdle.push(resolve));
  }

  /** Closes the client, which ends open requests, and drops all pending callbacks. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.endPauses();
    await this.#options.client.close();
    await this.idle();
  }

  #problemWith({ url }: Callback): string | null {
    const { queueLimit, destinationProblem: allows } = this.#options;
    if (this.#isClosed) return STOPPED;
    if (this.#pending >= queueLimit) return `the queue is full: ${queueLimit} callbacks pending`;
    return allows(url);
  }

  /** Not p-retry: it has neither full jitter nor `Retry-After`, and cannot end a pause for one last attempt when the tool stops. */
  async #deliver(delivery: Delivery): Promise<boolean> {
    const { url } = delivery.callback;
    const origin = readUrl(url)?.origin ?? ''; // the client rejects an invalid url
    this.#pending++;
    try {
      for (let isLast = false; ; isLast = this.#pauses.isStopping) {
        const failure = await this.#attempt(delivery, origin);
        if (!failure) return true;
        const { isFinal, retryAfter } = failure;
        const { attempts, ownFailures } = delivery;
        if (isFinal) return this.#giveUp(delivery, failure);
        const why = delivery.reasonsUntil(failure.why);
        if (attempts - ownFailures > this.#options.retries)
          return this.#giveUp(delivery, { why: `${why}; attempts: ${attempts}` });
        if (isLast || this.#isClosed) return this.#giveUp(delivery, { why: `${STOPPED}: ${why}` });
        await this.#pauses.wait(this.#pauseMs(attempts, retryAfter));
      }
    } finally {
      this.#pending--;
      if (this.#pending === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
    }
  }

  /** Applies full jitter, so that callbacks that failed together are not retried together, and respects `Retry-After` (TOOL-RETRY). */
  #pauseMs(failures: number, retryAfter: string | undefined): number {
    const { random, maxPauseMs, clock } = this.#options;
    const jittered = random() * Math.min(maxPauseMs, FIRST_PAUSE_MS * 2 ** (failures - 1));
    return Math.min(maxPauseMs, Math.max(jittered, retryAfterMs(retryAfter, clock.wall()) ?? 0));
  }

  async #attempt(delivery: Delivery, origin: string): Promise<Failure | null> {
    await this.#slots.take(origin);
    try {
      while (this.#resumed) await this.#resumed;
      return this.#obstacle(delivery) ?? (await this.#send(delivery));
    } finally {
      this.#slots.leave(origin);
    }
  }

  #obstacle({ callback }: Delivery): Failure | null {
    if (this.#isClosed) return { why: STOPPED, isFinal: true };
    const why = callback.cancelReason?.(); // an event after a cancel is not a loss (TOOL-SUB)
    return why ? { why, isFinal: true, what: 'event' } : null;
  }

  async #send(delivery: Delivery): Promise<Failure | null> {
    const { log, client } = this.#options;
    delivery.begin(log); // an error of ours is not a failed attempt
    try {
      return delivery.answered(await client.send(delivery));
    } catch (error) {
      return delivery.failed(error);
    }
  }

  #giveUp({ callback, leg }: Delivery, { why, what = 'callback' }: Failure): false {
    const { about, type, turn } = callback;
    const message = leg === undefined ? { type, turn } : { leg }; // without a request event, these identify the message
    this.#options.log.emit({ kind: 'dropped', what, why, count: 1, ...about, ...message });
    return false;
  }
}

const JSON_HEADERS = Object.freeze({ 'content-type': 'application/json' });

const NO_BYTES = new Uint8Array(0);

const ERROR_BODY = { maxBytes: LIMITS.excerptBytes.value, partial: true };

const SLOW_PIECES = 20;

const SLOW_EVERY_MS = 100;

/** Shared by all JSON callbacks, because events keep a reference to the headers. */
function headersOf({ contentType }: Callback): Readonly<Record<string, string>> {
  const isJson = contentType === undefined || contentType === JSON_HEADERS['content-type'];
  return isJson ? JSON_HEADERS : { 'content-type': contentType };
}

/** A callback on its way, as the request of its next attempt. */
class Delivery implements HttpRequest {
  readonly method = 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly pace: HttpRequest['pace'];
  attempts = 0;
  /** Attempts for which this process could open no connection. */
  ownFailures = 0;
  #firstReason: string | undefined;
  #recorded: RecordedRequest | undefined;
  #head: HttpAnswer | null = null;

  constructor(
    readonly callback: Callback,
    readonly timeoutMs: number,
  ) {
    const { url, body, pace } = callback;
    this.url = url;
    this.headers = headersOf(callback);
    this.body = body.bytes;
    if (pace === 'slow') {
      this.pace = { bytes: Math.max(1, Math.ceil(body.size / SLOW_PIECES)), everyMs: SLOW_EVERY_MS };
      this.timeoutMs += SLOW_PIECES * SLOW_EVERY_MS;
    }
  }

  get leg(): string | undefined {
    return this.#recorded?.leg;
  }

  /** Why the first attempt failed, and the latest one. */
  reasonsUntil(latest: string): string {
    this.#firstReason ??= latest;
    return latest === this.#firstReason ? latest : `at first, ${this.#firstReason}; at last, ${latest}`;
  }

  begin(log: Log): void {
    const { about, url, body, turn } = this.callback;
    this.#head = null;
    this.#recorded = new RecordedRequest(log, {
      from: 'tool',
      to: 'runtime',
      purpose: 'callback',
      method: 'POST',
      url,
      headers: this.headers,
      body,
      attempt: ++this.attempts,
      turn,
      calls: about.calls,
      thread: about.thread,
    });
  }

  readonly read = (status: number, headers: HttpAnswer['headers']): ReadLimit => {
    this.#head = { status, headers, body: NO_BYTES };
    return status < 300 ? 'nothing' : ERROR_BODY;
  };

  answered(answer: HttpAnswer): Failure | null {
    const { status, headers, body } = answer;
    if (status < 300) this.#recorded?.recordResponse(status);
    else
      this.#recorded?.recordResponse(status, {
        headers: { ...headers },
        body: body.length > 0 ? new Content(body) : undefined,
      });
    return failureIn(answer);
  }

  /** If only reading the response body failed, the status still counts. */
  failed(error: unknown): Failure | null {
    if (this.#head) return this.answered(this.#head);
    this.#recorded?.recordFailure(error);
    const code = error instanceof TransportError ? error.code : '';
    if (OWN_CODES.has(code)) this.ownFailures++;
    return { why: messageOf(error), isFinal: FINAL_CODES.has(code) };
  }
}
