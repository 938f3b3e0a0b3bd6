import type { Log } from '../events/log.js';
import { SecretPaths } from '../http/node-client.js';
import type { Addressee, Invocation } from '../protocol/read-invocation.js';
import type { Clock } from '../system/drafts.js';

/** Reasons, as clauses for the LLM. */
export const CANCELLED = 'the call was canceled';
export const THREAD_CLOSED = 'the thread was closed';

/** A closed thread counts as cancelled by the system, since the notice does not say who closed it. */
export function byOf(reason: string): 'user' | 'system' {
  return reason === THREAD_CLOSED ? 'system' : 'user';
}

/**
 * Whether a call was called off, and why. One is made for every call, and hardly any is ever used: an AbortController
 * costs a tenth of all the work there is for a call, and is made only for code that asks for it.
 */
export class Cancellation {
  #reason: string | null = null;
  #listeners: Set<() => void> | null = null;
  #controller: AbortController | null = null;

  /** A clause for the LLM; null while the call goes on. */
  get reason(): string | null {
    return this.#reason;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#reason !== null) this.#controller.abort(this.#reason);
    return this.#controller.signal;
  }

  /** The first reason counts. */
  cancel(reason: string): void {
    if (this.#reason !== null) return;
    this.#reason = reason;
    for (const listener of [...(this.#listeners ?? [])]) listener();
    this.#controller?.abort(reason);
  }

  /** Resolves when it happens; at once where it has. */
  happened(): Promise<void> {
    return new Promise(resolve => {
      if (this.#reason === null) this.listen(resolve);
      else resolve();
    });
  }

  /** Calls back when it happens. Returns how to stop listening. */
  listen(listener: () => void): () => void {
    this.#listeners ??= new Set();
    this.#listeners.add(listener);
    return () => this.#listeners?.delete(listener);
  }
}

/** The sender of an invocation. */
export interface Caller {
  /** Names the call in every event; unique in a run. */
  readonly key: string;
  readonly addressee: Addressee;
  /** Our own base URL, as this runtime reaches us. */
  readonly base: string;
  readonly cancellation: Cancellation;
}

/** One invocation that is worked on. */
export interface Call {
  readonly caller: Caller;
  readonly invocation: Invocation;
  /** Of the request; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Waiting that can be cut short: for one call when it is called off, for all of them when everything is due at once. */
export class Pauses {
  readonly #cuts = new Set<() => void>();
  #isHurried = false;

  constructor(private readonly clock: Clock) {}

  /** Monotonic milliseconds. */
  now(): number {
    return this.clock.now();
  }

  /** Resolves after `ms` milliseconds, or as soon as the waiting is cut short. */
  async wait(ms: number, cancellation?: Cancellation): Promise<void> {
    if (ms > 0) await this.within(new Promise<never>(() => {}), ms, cancellation);
  }

  /** What `work` comes to; null where `ms` milliseconds passed first, or the waiting was cut short. */
  within<T>(work: Promise<T>, ms: number | undefined, cancellation?: Cancellation): Promise<T | null> {
    if (this.#isHurried || (cancellation && cancellation.reason !== null)) return Promise.resolve(null);
    return new Promise(resolve => {
      const settle = (value: T | null) => {
        cancelTimer();
        this.#cuts.delete(cut);
        stopListening();
        resolve(value);
      };
      const cut = () => settle(null);
      const cancelTimer = ms === undefined ? () => {} : this.clock.after(ms, cut);
      this.#cuts.add(cut);
      const stopListening = cancellation?.listen(cut) ?? (() => {});
      work.then(settle, cut);
    });
  }

  /** Nothing is waited for any more. */
  get isHurried(): boolean {
    return this.#isHurried;
  }

  /** From now on nothing is waited for. */
  hurry(): void {
    this.#isHurried = true;
    for (const cut of [...this.#cuts]) cut();
  }
}

/** A wait for a manual trigger. */
export interface Trigger {
  readonly fired: Promise<true>;
  /** Ends the wait. */
  leave(): void;
}

interface Waiting {
  /** Of the call, in events. */
  readonly key: string;
  /** As the runtime named the call: an id is unique in its thread only. */
  readonly named: Named;
  readonly fire: () => void;
}

type Named = Pick<Addressee, 'group_id' | 'id'>;

/** Calls that wait for a manual trigger: an event with `on: demand`, a consent at another address. */
export class ManualTriggers {
  /** Oldest first. */
  readonly #waiting = new Set<Waiting>();

  wait(key: string, named: Named): Trigger {
    let fire: () => void = () => {};
    const fired = new Promise<true>(resolve => {
      fire = () => resolve(true);
    });
    const waiting = { key, named, fire };
    this.#waiting.add(waiting);
    return { fired, leave: () => void this.#waiting.delete(waiting) };
  }

  /** Fires the oldest of each call that waits, or only of those with this id, in this thread. @returns how many were fired. */
  fire(id?: string, thread?: string): number {
    const isMeant = ({ named }: Waiting) =>
      (id === undefined || named.id === id) && (thread === undefined || named.group_id === thread);
    const oldest = new Map<string, Waiting>();
    for (const each of this.#waiting) if (isMeant(each) && !oldest.has(each.key)) oldest.set(each.key, each);
    for (const each of oldest.values()) {
      this.#waiting.delete(each);
      each.fire();
    }
    return oldest.size;
  }
}

export interface CallServices {
  readonly log: Log;
  readonly pauses: Pauses;
  readonly triggers: ManualTriggers;
}

interface Asking<Answer> {
  readonly what: 'choice' | 'consent';
  readonly asked: Question<Answer>;
  readonly preset: Answer;
  readonly withinMs: number | undefined;
}

/** How long a handler may take to return after a cancel, since the caller waits for a result. */
const LAST_WORDS_MS = 1_000;

/** What one call waits for: answers of people, and manual triggers. All waits end with the call. */
export class CallWaits {
  #expected: Trigger | undefined;
  #closers: Set<() => void> | undefined;

  constructor(
    private readonly caller: Caller,
    private readonly services: CallServices,
  ) {}

  /** Lets the call be triggered before it waits, for clients that trigger it as soon as they see the previous message. */
  expectTrigger(): void {
    this.#expected ??= this.#demand();
  }

  /** Resolves to true when the call is triggered; to false if the call or the tool ends first. */
  async triggered(): Promise<boolean> {
    const { log, pauses } = this.services;
    const { cancellation } = this.caller;
    const { fired, leave } = this.#expected ?? this.#demand();
    this.#expected = undefined;
    if (!pauses.isHurried) log.emit({ kind: 'planned', by: 'fixture', plan: 'demand', ...this.#about() });
    const wasFired = await pauses.within(fired, undefined, cancellation);
    leave();
    if (wasFired !== true && cancellation.reason !== null) this.#isGivenUp(cancellation.reason);
    return wasFired === true;
  }

  /** Asks a person. A manual trigger answers with the preset; null without an answer. */
  async ask<A extends string | number>(
    { what, asked, preset, withinMs }: Asking<A>,
    send: () => Promise<boolean>,
  ): Promise<A | null> {
    const { log, pauses } = this.services;
    const demand = this.services.triggers.wait(this.caller.key, this.caller.addressee);
    const close = () => {
      demand.leave();
      asked.close();
    };
    this.#atClose(close);
    void demand.fired.then(() => {
      if (asked.resolve(preset))
        log.emit({ kind: 'decided', what, by: 'policy', value: preset, ...this.#about() });
    });
    const isAsked = await send(); // a question that never arrived is not waited for
    const since = pauses.now();
    const answer = isAsked ? await pauses.within(asked.answer, withinMs, this.caller.cancellation) : null;
    this.#closers?.delete(close);
    close();
    if (answer === null && isAsked && this.caller.cancellation.reason === null)
      log.emit({
        kind: 'expired',
        what: 'answer',
        afterMs: Math.round(pauses.now() - since),
        ...this.#about(),
      });
    return answer;
  }

  /** Reports that the call no longer waits for a trigger. */
  #isGivenUp(why: string): void {
    const message = { what: 'event', type: 'subscription_event', count: 1 } as const;
    this.services.log.emit({ kind: 'dropped', why, ...message, ...this.#about() });
  }

  #demand(): Trigger {
    const { fired, leave } = this.services.triggers.wait(this.caller.key, this.caller.addressee);
    this.#atClose(leave);
    return { fired, leave };
  }

  #atClose(close: () => void): void {
    this.#closers ??= new Set();
    this.#closers.add(close);
  }

  /** What `work` comes to. Once the call is called off, it has a moment left to say something itself: null after that. */
  orCalledOff<T>(work: Promise<T>): Promise<T | null> {
    const lastWords = () => this.services.pauses.within(work, LAST_WORDS_MS);
    return Promise.race([work, this.caller.cancellation.happened().then(lastWords)]);
  }

  /** Closes all open questions. */
  close(): void {
    for (const close of this.#closers ?? []) close();
  }

  #about() {
    return { calls: [this.caller.key], thread: this.caller.addressee.group_id };
  }
}

/** A question to a person. */
export interface Question<Answer> {
  /** Path and query, unguessable: anyone who has it may answer. */
  readonly path: string;
  readonly answer: Promise<Answer>;
  /** Returns false if the question was answered before or is closed: only the first answer counts. */
  resolve(answer: Answer): boolean;
  /** Later answers are accepted and ignored. */
  close(): void;
}

const QUESTIONS_REMEMBERED = 10_000;

/** Questions that wait for an answer over HTTP. Paths are compared in constant time (threats, row 1). */
export class Questions<Answer, About> {
  readonly #paths: SecretPaths<OpenQuestion<Answer, About>>;
  /** Oldest first; the oldest are forgotten. */
  readonly #closed = new Set<string>();

  constructor(
    prefix: string,
    private readonly remembered = QUESTIONS_REMEMBERED,
  ) {
    this.#paths = new SecretPaths(prefix);
  }

  open(about: About): Question<Answer> {
    const question = new OpenQuestion<Answer, About>(about);
    const { path } = this.#paths.issue(question);
    const close = () => {
      question.isOpen = false;
      this.#forgetOldest(path);
    };
    return { path, answer: question.answer, resolve: answer => question.resolve(answer), close };
  }

  /** @param target path and query, as sent. */
  at(target: string): OpenQuestion<Answer, About> | undefined {
    return this.#paths.resolve(target);
  }

  #forgetOldest(closed: string): void {
    if (!this.#paths.resolve(closed)) return;
    this.#closed.add(closed);
    const [oldest] = this.#closed.size > this.remembered ? this.#closed : [];
    if (oldest === undefined) return;
    this.#closed.delete(oldest);
    this.#paths.forget(oldest);
  }
}

class OpenQuestion<Answer, About> {
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
