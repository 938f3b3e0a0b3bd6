import { Content } from '../events/content.js';
import type { Log } from '../events/log.js';
import { type RecordedRequest, recordRequest } from '../events/record-request.js';
import type { Allows } from '../http/addresses.js';
import { type HttpAnswer, type HttpClient, retryAfterMs, TransportError } from '../http/client.js';
import type { Clock } from '../system/drafts.js';
import { bytesText } from '../util/json-diagnosis.js';
import { readUrl } from '../util/strings.js';
import { Pauses } from './reply-waits.js';
import { type Callback, type Delivery, headersOf, send, stopped, typeOf } from './send-callback.js';

const FIRST_PAUSE_MS = 200;
/** Origins remembered while nothing is sent to them. */
const IDLE_ORIGINS = 1_000;

interface Origin {
  active: number;
  readonly waiting: (() => void)[];
}

/** Limits requests per origin, first come first served, so that a slow receiver delays only its own callbacks. */
class Slots {
  readonly #origins = new Map<string, Origin>();

  constructor(private readonly perOrigin: number) {}

  /** Null if a slot was free and is taken now, so that work begins in the same tick; else resolves once it is. */
  take(name: string): Promise<void> | null {
    const origin = this.#originOf(name);
    if (origin.active >= this.perOrigin) return new Promise(resolve => origin.waiting.push(resolve));
    origin.active++;
    return null;
  }

  leave(name: string): void {
    const origin = this.#originOf(name);
    const next = origin.waiting.shift();
    if (next) next();
    else origin.active--;
  }

  #originOf(name: string): Origin {
    const known = this.#origins.get(name);
    if (known) return known;
    if (this.#origins.size >= IDLE_ORIGINS)
      for (const [idle, { active }] of this.#origins) if (active === 0) this.#origins.delete(idle);
    const origin = { active: 0, waiting: [] };
    this.#origins.set(name, origin);
    return origin;
  }
}

/** The result of one attempt. `refused`: no further attempt can succeed. */
type Verdict = { readonly kind: 'delivered'; readonly status: number } | Failure;

interface Failure {
  readonly kind: 'refused' | 'failed';
  readonly why: string;
  /** The header of the answer. */
  readonly retryAfter?: string | undefined;
}

/** Only a 5xx is retried (TOOL-RETRY, TOOL-NORETRY); a redirect is not followed (threats, row 11). */
function verdictOn({ status, headers }: HttpAnswer): Verdict {
  if (status < 300) return { kind: 'delivered', status };
  const why = `the runtime answered ${status}`;
  if (status >= 500) return { kind: 'failed', why, retryAfter: headers['retry-after'] };
  return { kind: 'refused', why: `${why}; ${status < 400 ? 'redirects are not followed' : 'not retried'}` };
}

/** Faults of the request itself or its address. */
const FINAL = new Set(['REFUSED_ADDRESS', 'BAD_URL', 'BAD_HEADER']);

/** A callback, with the list of calls that all its events share. */
interface Parcel {
  readonly callback: Callback;
  readonly about: { readonly calls: string[]; readonly thread: string };
}

export interface OutboxOptions {
  readonly log: Log;
  readonly client: HttpClient;
  readonly clock: Clock;
  /** Uniform in [0, 1): the jitter of pauses. */
  readonly random: () => number;
  readonly allows: Allows;
  /** Maximum number of pending callbacks, waiting ones included. */
  readonly queueLimit: number;
  /** Maximum bytes of their bodies; a single callback may be larger. */
  readonly queueBytes: number;
  /** Maximum number of concurrent requests to one origin. */
  readonly perOrigin: number;
  /** Attempts after the first. */
  readonly retries: number;
  /** Maximum pause between two attempts, whatever `Retry-After` says. */
  readonly maxPauseMs: number;
  /** Of one attempt, so that a receiver that hangs gives its slot back. */
  readonly timeoutMs: number;
}

/** Delivers callbacks, with retries. A callback that is given up is always a `dropped` event (threats, "Delivery faults"). */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #slots: Slots;
  readonly #pauses: Pauses;
  /** Null while deliveries are not paused: then they begin in the same tick. */
  #resumed: Promise<void> | null = null;
  #resume: () => void = () => {};
  #isClosed = false;
  #pending = 0;
  #bytes = 0;
  #onIdle: (() => void)[] = [];

  constructor(options: OutboxOptions) {
    this.#options = options;
    this.#slots = new Slots(options.perOrigin);
    this.#pauses = new Pauses(options.clock);
  }

  /** How many callbacks were accepted and are neither delivered nor given up. */
  get pending(): number {
    return this.#pending;
  }

  /** Resolves when the callback is delivered or given up; never rejects. */
  post(callback: Callback): Promise<Delivery> {
    const parcel = { callback, about: { calls: [callback.key], thread: callback.thread } };
    const problem = this.#problemWith(callback);
    return problem === null ? this.#deliver(parcel) : Promise.resolve(this.#giveUp(parcel, problem, 0));
  }

  /** Starts no further request until {@link resume}. */
  pause(): void {
    this.#resumed ??= new Promise(resolve => {
      this.#resume = resolve;
    });
  }

  resume(): void {
    this.#resumed = null;
    this.#resume();
  }

  /** Ends all pauses. A callback that fails from now on is retried once, at once. */
  hurry(): void {
    this.#pauses.hurry();
    this.resume();
  }

  /** Resolves when no callback is pending. */
  idle(): Promise<void> {
    if (this.#pending === 0) return Promise.resolve();
    return new Promise(resolve => this.#onIdle.push(resolve));
  }

  /** Closes the client, which ends open requests, and gives up all pending callbacks. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.hurry();
    await this.#options.client.close();
    await this.idle();
  }

  #problemWith({ url, body }: Callback): string | null {
    const { queueLimit, queueBytes, allows } = this.#options;
    if (this.#isClosed) return stopped();
    if (this.#pending >= queueLimit) return `the queue is full: ${queueLimit} callbacks pending`;
    if (this.#pending > 0 && this.#bytes + body.size > queueBytes)
      return `the queue is full: ${bytesText(this.#bytes)} of callbacks pending; the limit is ${queueBytes} bytes`;
    return allows(url);
  }

  async #deliver(parcel: Parcel): Promise<Delivery> {
    const { url, body } = parcel.callback;
    const origin = readUrl(url)?.origin ?? ''; // the client rejects an invalid url
    let leg: string | undefined;
    this.#pending++;
    this.#bytes += body.size;
    try {
      for (let attempts = 0, isLast = false; ; isLast = this.#pauses.isHurried) {
        const made = await this.#attempt(parcel, attempts + 1, origin);
        if (!made) return this.#leave(parcel, attempts, leg);
        attempts++;
        leg = made.leg;
        const { verdict } = made;
        if (verdict.kind === 'delivered') return { delivered: true, status: verdict.status, attempts };
        const why = this.#whyNotAgain(verdict, attempts, isLast);
        if (why !== null) return this.#giveUp(parcel, why, attempts, leg);
        await this.#pauses.wait(this.#pauseMs(verdict, attempts));
      }
    } finally {
      this.#pending--;
      this.#bytes -= body.size;
      if (this.#pending === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
    }
  }

  #whyNotAgain({ kind, why }: Failure, attempts: number, isLast: boolean): string | null {
    if (kind === 'refused') return why;
    if (attempts > this.#options.retries) return `${why}; attempts: ${attempts}`;
    return isLast || this.#isClosed ? stopped(why) : null;
  }

  /** Full jitter, so that callbacks that failed together are not retried together; not before `Retry-After` (TOOL-RETRY). */
  #pauseMs({ retryAfter }: Failure, failures: number): number {
    const { random, maxPauseMs, clock } = this.#options;
    const jittered = random() * Math.min(maxPauseMs, FIRST_PAUSE_MS * 2 ** (failures - 1));
    return Math.min(maxPauseMs, Math.max(jittered, retryAfterMs(retryAfter, clock.wall())));
  }

  /** Null if the outbox was closed or the callback was cancelled before a slot was free. */
  async #attempt(parcel: Parcel, number: number, origin: string) {
    const turn = this.#slots.take(origin);
    if (turn) await turn;
    try {
      while (this.#resumed) await this.#resumed;
      if (this.#isClosed || parcel.callback.cancelReason?.()) return null;
      return await this.#send(parcel, number);
    } finally {
      this.#slots.leave(origin);
    }
  }

  /** The request is in the journal before it is sent: after a crash the same bytes are sent again. */
  async #send(parcel: Parcel, number: number): Promise<{ readonly leg: string; readonly verdict: Verdict }> {
    const { log, client, timeoutMs } = this.#options;
    const recorded = this.#recordRequest(parcel, number);
    const { leg } = recorded;
    try {
      await log.kept();
      const answer = await send(client, timeoutMs, parcel.callback);
      recorded.answered(answer.status, loggedParts(answer));
      return { leg, verdict: verdictOn(answer) };
    } catch (error) {
      const isTransport = error instanceof TransportError;
      const { phase, code } = isTransport ? error : { phase: 'journal', code: 'UNWRITABLE' };
      recorded.broken(phase, code);
      const why = error instanceof Error ? error.message : String(error);
      return { leg, verdict: { kind: isTransport && FINAL.has(code) ? 'refused' : 'failed', why } };
    }
  }

  #recordRequest({ callback, about: { calls, thread } }: Parcel, attempt: number): RecordedRequest {
    const { url, body, turn } = callback;
    return recordRequest(this.#options.log, {
      from: 'tool',
      to: 'runtime',
      purpose: 'callback',
      method: 'POST',
      url,
      headers: headersOf(callback),
      body,
      attempt,
      calls,
      thread,
      turn,
    });
  }

  /** A cancelled callback is reported as an event that was not to arrive any more, not as a loss (TOOL-SUB). */
  #leave(parcel: Parcel, attempts: number, leg?: string): Delivery {
    const why = this.#isClosed ? null : parcel.callback.cancelReason?.();
    return why
      ? this.#giveUp(parcel, why, attempts, leg, 'event')
      : this.#giveUp(parcel, stopped(), attempts, leg);
  }

  #giveUp(
    { callback: { body, turn }, about }: Parcel,
    why: string,
    attempts: number,
    leg?: string,
    what: 'callback' | 'event' = 'callback',
  ): Delivery {
    const message = leg === undefined ? { type: typeOf(body), turn } : { leg }; // without a request event, this names the message
    this.#options.log.emit({ kind: 'dropped', what, why, count: 1, ...about, ...message });
    return { delivered: false, why, attempts };
  }
}

/** Headers and body are logged only for a refusal. */
function loggedParts({ status, headers, body }: HttpAnswer) {
  if (status < 300) return {};
  return { headers: { ...headers }, body: body.length > 0 ? new Content(body) : undefined };
}
