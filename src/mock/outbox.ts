import type { Log } from '../events/log.js';
import type { Allows } from '../http/addresses.js';
import { type HttpClient, retryAfterMs } from '../http/client.js';
import { SecretPaths } from '../http/node-client.js';
import type { Clock } from '../system/drafts.js';
import { bytesText } from '../util/json-diagnosis.js';
import { readUrl } from '../util/strings.js';
import {
  type Attempt,
  attempt,
  type Callback,
  type Carrier,
  type Delivery,
  type Parcel,
  type Setback,
  stopped,
  typeOf,
} from './send-callback.js';

const FIRST_PAUSE_MS = 200;

/** What decides how long to wait before the next attempt. */
interface Waiting {
  /** How many attempts have failed so far; from 1. */
  readonly failures: number;
  /** The `Retry-After` of the answer, where it had one. */
  readonly retryAfter?: string | undefined;
}

/**
 * The pause in ms before the next attempt: full jitter, so that many that failed together do not come back together, and not
 * before the time that was asked for; `maxMs` bounds both (TOOL-RETRY).
 * @param random uniform in [0, 1).
 */
export function pauseMs({ failures, retryAfter }: Waiting, random: number, maxMs: number, now: Date): number {
  const jittered = random * Math.min(maxMs, FIRST_PAUSE_MS * 2 ** (failures - 1));
  return Math.min(maxMs, Math.max(jittered, retryAfterMs(retryAfter, now)));
}

/** Lets everybody through at once while it is open; keeps them while it is shut. */
class Gate {
  #opened: Promise<void> | null = null;
  #open: () => void = () => {};

  /** Null where it is open: nobody has to wait then, not even a tick. */
  get opened(): Promise<void> | null {
    return this.#opened;
  }

  shut(): void {
    this.#opened ??= new Promise(resolve => {
      this.#open = resolve;
    });
  }

  open(): void {
    this.#opened = null;
    this.#open();
  }
}

/** Waiting that can be cut short, for all that wait at once. */
class Pauses {
  readonly #wakes = new Set<() => void>();

  constructor(private readonly clock: Clock) {}

  /** Resolves after `ms` milliseconds, or when everybody is woken. */
  wait(ms: number): Promise<void> {
    return new Promise(resolve => {
      const wake = () => {
        cancel();
        this.#wakes.delete(wake);
        resolve();
      };
      const cancel = this.clock.after(ms, wake);
      this.#wakes.add(wake);
    });
  }

  wakeAll(): void {
    for (const wake of this.#wakes) wake();
  }
}

/** Origins remembered while nobody asks for them: one is soon asked for again. */
const REMEMBERED = 1_000;

interface Desk {
  taken: number;
  readonly waiting: (() => void)[];
}

/**
 * So many at a time for each origin, first come first served: who is slow or silent holds up only those who ask for the same.
 * Where a slot is free, work begins at once and costs next to nothing.
 */
class Slots {
  readonly #desks = new Map<string, Desk>();

  constructor(private readonly perOrigin: number) {}

  /** Null where a slot was free, and is taken now; else resolves once it is. */
  take(origin: string): Promise<void> | null {
    const services = this.#servicesOf(origin);
    if (services.taken >= this.perOrigin) return new Promise(resolve => services.waiting.push(resolve));
    services.taken++;
    return null;
  }

  /** Gives a slot that was taken to the next who waits for it. */
  leave(origin: string): void {
    const services = this.#servicesOf(origin);
    const next = services.waiting.shift();
    if (next) next();
    else services.taken--;
  }

  #servicesOf(origin: string): Desk {
    const known = this.#desks.get(origin);
    if (known) return known;
    if (this.#desks.size >= REMEMBERED) this.#forgetIdle();
    const services = { taken: 0, waiting: [] };
    this.#desks.set(origin, services);
    return services;
  }

  #forgetIdle(): void {
    for (const [origin, { taken }] of this.#desks) if (taken === 0) this.#desks.delete(origin);
  }
}

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
    if (this.#pending >= queueLimit) return `the queue is full: ${queueLimit} callbacks pending`;
    if (this.#pending > 0 && this.#bytes + body.size > queueBytes)
      return `the queue is full: ${bytesText(this.#bytes)} of callbacks pending; the limit is ${queueBytes} bytes`;
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
      if (this.#isClosed || cancelReason(parcel) !== null) return null;
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
    const why = this.#isClosed ? null : cancelReason(parcel);
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

function cancelReason({ callback }: Parcel): string | null {
  return callback.cancelReason?.() ?? null;
}

/** A url that is none has no origin; the client says what is wrong with it. */
function originOf(url: string): string {
  return readUrl(url)?.origin ?? '';
}

/** Something that only a person can answer; whoever has its path may. */
export interface Question<Answer> {
  /** Path and query, unguessable. */
  readonly path: string;
  readonly answer: Promise<Answer>;
  /** As {@link OpenQuestion.resolve}. */
  resolve(answer: Answer): boolean;
  /** Nobody is asked any more: who answers all the same is heard, and nothing comes of it. */
  close(): void;
}

/** An open question as its route sees it. */
interface OpenQuestion<Answer, About> {
  readonly about: About;
  /** Neither answered nor closed. */
  readonly isOpen: boolean;
  /** Counts once; false where it was answered before, or is closed. */
  resolve(answer: Answer): boolean;
}

const QUESTIONS_REMEMBERED = 10_000;

/**
 * Questions that wait for an answer over HTTP. Their paths are secrets, compared in constant time (threats, row 1). The oldest that
 * are closed are forgotten first.
 */
export class Questions<Answer, About> {
  readonly #paths: SecretPaths<OpenQuestion<Answer, About>>;
  readonly #closed = new Set<string>();

  constructor(
    prefix: string,
    private readonly remembered = QUESTIONS_REMEMBERED,
  ) {
    this.#paths = new SecretPaths(prefix);
  }

  open(about: About): Question<Answer> {
    const pending = new Pending<Answer, About>(about);
    const { path } = this.#paths.issue(pending);
    const close = () => {
      pending.isOpen = false;
      this.#retire(path);
    };
    return { path, answer: pending.answer, resolve: answer => pending.resolve(answer), close };
  }

  /** @param target path and query, as sent. */
  at(target: string): OpenQuestion<Answer, About> | undefined {
    return this.#paths.resolve(target);
  }

  #retire(path: string): void {
    if (!this.#paths.resolve(path)) return;
    this.#closed.add(path);
    const [oldest] = this.#closed.size > this.remembered ? this.#closed : [];
    if (oldest === undefined) return;
    this.#closed.delete(oldest);
    this.#paths.forget(oldest);
  }
}

class Pending<Answer, About> implements OpenQuestion<Answer, About> {
  #settle: (answer: Answer) => void = () => {};
  isOpen = true;
  readonly answer = new Promise<Answer>(resolve => {
    this.#settle = resolve;
  });

  constructor(readonly about: About) {}

  resolve(answer: Answer): boolean {
    if (!this.isOpen) return false;
    this.isOpen = false;
    this.#settle(answer);
    return true;
  }
}
