import type { Log } from '../../exchange/log.js';
import type { Clock } from '../../system/clock.js';
import { bytesText } from '../../text/bytes-text.js';
import { readUrl } from '../../text/url.js';
import type { Allows } from '../../transport/allowed-destinations.js';
import type { HttpClient } from '../../transport/client.js';
import { type Attempt, attempt, type Carrier, type Parcel } from './attempt.js';
import { pauseMs } from './backoff.js';
import { type Callback, type Delivery, stopped, typeOf } from './callback.js';
import { Gate } from './gate.js';
import { Pauses } from './pauses.js';
import { Slots } from './slots.js';
import type { Setback } from './verdict.js';

export interface OutboxOptions {
  readonly log: Log;
  readonly client: HttpClient;
  readonly clock: Clock;
  /** Uniform in [0, 1): the jitter of pauses. */
  readonly random: () => number;
  readonly allows: Allows;
  /** How many callbacks may be on their way, those that wait included. */
  readonly queueLimit: number;
  /** Bytes of the bodies of those; one alone may be larger. */
  readonly queueBytes: number;
  /** How many requests one origin may be busy with at a time. */
  readonly perOrigin: number;
  /** How many attempts after the first. */
  readonly retries: number;
  /** Of the pause between two attempts, whatever a `Retry-After` asks for. */
  readonly maxPauseMs: number;
  /** Of one attempt: a receiver that hangs gives its slot back. */
  readonly timeoutMs: number;
}

/**
 * Takes callbacks and delivers each, or says why not: what is given up is always a `dropped` event (threats, "Delivery faults").
 * A receiver that fails is tried again, after growing pauses; one that is slow or silent never holds up another origin.
 */
export class Outbox {
  readonly #options: OutboxOptions;
  readonly #carrier: Carrier;
  readonly #slots: Slots;
  readonly #pauses: Pauses;
  readonly #gate = new Gate();
  #isClosed = false;
  #pending = 0;
  #bytes = 0;
  #isHurried = false;
  #onIdle: (() => void)[] = [];

  constructor(options: OutboxOptions) {
    this.#options = options;
    const { log, client, timeoutMs } = options;
    this.#carrier = { log, client, timeoutMs };
    this.#slots = new Slots(options.perOrigin);
    this.#pauses = new Pauses(options.clock);
  }

  /** How many were accepted and are not over yet. */
  get pending(): number {
    return this.#pending;
  }

  /** Settles when it is over, one way or the other; never rejects. */
  post(callback: Callback): Promise<Delivery> {
    const parcel = { callback, about: { calls: [callback.key], thread: callback.thread } };
    const refusal = this.#refusal(callback);
    return refusal === null ? this.#deliver(parcel) : Promise.resolve(this.#giveUp(parcel, refusal, 0));
  }

  /** From now on nothing new is sent; what is under way may end. */
  pause(): void {
    this.#gate.shut();
  }

  resume(): void {
    this.#gate.open();
  }

  /** For the end of a run: no more pauses. What fails from now on gets one more attempt, at once. Resumes. */
  hurry(): void {
    this.#isHurried = true;
    this.#pauses.wakeAll();
    this.resume();
  }

  /** Resolves when nothing is pending. */
  idle(): Promise<void> {
    return this.#pending === 0
      ? Promise.resolve()
      : new Promise(resolve => {
          this.#onIdle.push(resolve);
        });
  }

  /** Closes the client, which ends what is under way, and gives up what is left, each with a word. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.hurry();
    await this.#options.client.close();
    await this.idle();
  }

  #refusal({ url, body }: Callback): string | null {
    const { queueLimit, queueBytes, allows } = this.#options;
    if (this.#isClosed) return stopped();
    if (this.#pending >= queueLimit) return `the queue is full: ${queueLimit} callbacks are on their way`;
    if (this.#pending > 0 && this.#bytes + body.size > queueBytes)
      return `the queue is full: callbacks of ${bytesText(this.#bytes)} are on their way, and of ${queueBytes} may be`;
    return allows(url);
  }

  async #deliver(parcel: Parcel): Promise<Delivery> {
    const origin = originOf(parcel.callback.url);
    let leg: string | undefined;
    this.#pending++;
    this.#bytes += parcel.callback.body.size;
    try {
      for (let attempts = 0, isLast = false; ; isLast = this.#isHurried) {
        const made = await this.#attempt(parcel, attempts + 1, origin);
        if (!made) return this.#leave(parcel, attempts, leg);
        attempts++;
        leg = made.leg;
        const { verdict } = made;
        if (verdict.kind === 'delivered') return { delivered: true, status: verdict.status, attempts };
        const why = this.#whyNotAgain(verdict, attempts, isLast);
        if (why !== null) return this.#giveUp(parcel, why, attempts, leg);
        await this.#pause(verdict, attempts);
      }
    } finally {
      this.#pending--;
      this.#bytes -= parcel.callback.body.size;
      if (this.#pending === 0) for (const tell of this.#onIdle.splice(0)) tell();
    }
  }

  #whyNotAgain({ kind, why }: Setback, attempts: number, isLast: boolean): string | null {
    if (kind === 'refused') return why;
    if (attempts > this.#options.retries) return `${why}; attempts: ${attempts}`;
    return isLast || this.#isClosed ? stopped(why) : null;
  }

  /** Null where the outbox was closed before its turn came, or the callback was called off. */
  async #attempt(parcel: Parcel, number: number, origin: string): Promise<Attempt | null> {
    const turn = this.#slots.take(origin);
    if (turn) await turn;
    try {
      while (this.#gate.opened) await this.#gate.opened;
      if (this.#isClosed || calledOff(parcel) !== null) return null;
      return await attempt(this.#carrier, parcel, number);
    } finally {
      this.#slots.leave(origin);
    }
  }

  async #pause({ retryAfter }: Setback, failures: number): Promise<void> {
    if (this.#isHurried) return;
    const { random, maxPauseMs, clock } = this.#options;
    await this.#pauses.wait(pauseMs({ failures, retryAfter }, random(), maxPauseMs, clock.wall()));
  }

  /** The end of a run is a loss; what was called off is none: it was not to arrive any more (TOOL-SUB). */
  #leave(parcel: Parcel, attempts: number, leg?: string): Delivery {
    const why = this.#isClosed ? null : calledOff(parcel);
    return why === null
      ? this.#giveUp(parcel, stopped(), attempts, leg)
      : this.#giveUp(parcel, why, attempts, leg, 'event');
  }

  #giveUp(
    { callback, about }: Parcel,
    why: string,
    attempts: number,
    leg?: string,
    what: 'callback' | 'event' = 'callback',
  ): Delivery {
    const { body, turn } = callback;
    const sign = leg === undefined ? { type: typeOf(body), turn } : { leg }; // no request event shows its message
    this.#options.log.emit({ kind: 'dropped', what, why, count: 1, ...about, ...sign });
    return { delivered: false, why, attempts };
  }
}

function calledOff({ callback }: Parcel): string | null {
  return callback.calledOff?.() ?? null;
}

/** A url that is none has no origin; the client says what is wrong with it. */
function originOf(url: string): string {
  return readUrl(url)?.origin ?? '';
}
