import type { Log } from '../events/log.js';
import type { Addressee } from '../protocol/invocation.js';
import type { Outcome } from '../protocol/outcome.js';
import type { Clock } from '../system/clock.js';
import type { Change } from './middleware.js';

export interface CallServices {
  readonly log: Log;
  readonly pauses: Pauses;
}

export interface Caller {
  /** Call key used in every event; unique in a run. */
  readonly key: string;
  readonly addressee: Addressee;
  /** The base URL at which this runtime reaches the tool. */
  readonly base: string;
}

export interface CallReference {
  readonly calls?: string[];
  readonly thread?: string;
}

export interface ChoiceQuestion {
  readonly prompt: string;
  readonly choices: readonly string[];
  /** Index into `choices` of the option to use if the prompt is dismissed. */
  readonly default: number;
  /** The `id` that the answer must contain. */
  readonly id: string;
}

export interface ConsentQuestion {
  readonly operation: string;
  readonly scopes: readonly string[];
}

export type Consent = 'granted' | 'refused';

export type Fields = Readonly<Record<string, unknown>>;

/**
 * An answer (seed 003). A `payload` has passed response middleware; `text` is its wrapped form: a string unchanged, other JSON encoded.
 * A `verbatim` result is as written, without middleware.
 */
export type ReplyContent =
  | { readonly kind: 'payload'; readonly payload: unknown; readonly text: string }
  | { readonly kind: 'verbatim'; readonly result: Fields }
  | { readonly kind: 'outcome'; readonly outcome: Outcome };

export interface QuestionOptions {
  /** Milliseconds to wait for an answer. Default: no limit. */
  readonly withinMs?: number | undefined;
  /** The recorded JSON text of the question. */
  readonly layout?: string | undefined;
  /** The query of the URL of a choice. */
  readonly query?: string | undefined;
}

export const CANCELED = 'the call was canceled';

export const THREAD_CLOSED = 'the thread was closed';

/** How long a handler may take to return after a cancel; the caller waits for a result. */
const CANCEL_GRACE_MS = 1_000;

/**
 * A call in progress: its messages, its waits and its cancellation. Replies and handlers write to it; subclasses send the messages
 * over RAP or within this process.
 */
export abstract class Conversation {
  readonly about: Required<CallReference>;
  #cancelReason: string | null = null;
  #cancelListeners: Set<() => void> | undefined;
  /** Created lazily, because an AbortController costs a tenth of all the work for a call. */
  #controller: AbortController | undefined;
  #isAnswered = false;
  #isSubscribed = false;
  #isFinal = false;
  #isClosed = false;
  #onFinal: () => void = () => {};
  #hasCutWait = false;
  /** Waits for a manual trigger, oldest first. */
  #triggers: Set<() => void> | undefined;
  #expected: Trigger | undefined;
  #closers: Set<() => void> | undefined;

  constructor(
    readonly caller: Caller,
    protected readonly services: CallServices,
  ) {
    this.about = { calls: [caller.key], thread: caller.addressee.group_id };
  }

  /** Sends the answer. @param layout the recorded JSON text of a verbatim result */
  protected abstract answer(reply: ReplyContent, layout?: string): Promise<unknown>;

  /** Sends a message that is not an answer. @param layout its recorded JSON text */
  protected abstract send(
    type: 'subscription_event' | 'view_update',
    fields: Fields,
    layout: string | undefined,
  ): Promise<unknown>;

  /** Sends any JSON exactly; whether it ends the call is unknown. */
  abstract message(value: unknown): Promise<unknown>;

  /** Resolves to the index that the user picked, or to null on timeout (TOOL-CHOICE). */
  abstract choice(question: ChoiceQuestion, asking?: QuestionOptions): Promise<number | null>;

  /** Resolves to the user's answer, or to null on timeout (TOOL-OAUTH). */
  abstract consent(
    question: ConsentQuestion,
    asking?: QuestionOptions & { readonly authUrl?: string | undefined },
  ): Promise<Consent | null>;

  /** Sends a value that still has to be wrapped. Middleware has already run. @throws TypeError if it is not JSON */
  payload(payload: unknown): Promise<unknown> {
    const text = typeof payload === 'string' ? payload : (JSON.stringify(payload) ?? 'null');
    return this.#answer({ kind: 'payload', payload, text });
  }

  /** Sends a whole result verbatim. @param layout its recorded JSON text */
  result(result: Fields, layout?: string): Promise<unknown> {
    return this.#answer({ kind: 'verbatim', result }, layout, result['subscription'] === true);
  }

  /** Sends any outcome except success (seed 002). */
  outcome(outcome: Outcome): Promise<unknown> {
    return this.#answer({ kind: 'outcome', outcome });
  }

  async event(fields: Fields, layout?: string): Promise<void> {
    const isFinal = fields['final'] === true;
    this.#isFinal ||= isFinal;
    await this.send('subscription_event', fields, layout);
    if (isFinal) this.#onFinal();
  }

  view(fields: Fields, layout?: string): Promise<unknown> {
    return this.send('view_update', fields, layout);
  }

  /** Whether the call has a result, or gets none on purpose. */
  get isAnswered(): boolean {
    return this.#isAnswered;
  }

  /** Why the call was canceled, as a clause for the LLM; null if it was not. */
  get cancelReason(): string | null {
    return this.#cancelReason;
  }

  get isCanceled(): boolean {
    return this.#cancelReason !== null;
  }

  /** Whether the reply goes on although the call is canceled, as a fault plans it. */
  get outlivesCancel(): boolean {
    return false;
  }

  /** Whether the call accepts no more messages. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  get isFinal(): boolean {
    return this.#isFinal;
  }

  /** Whether events may still follow: no final event and no cancel yet (TOOL-SUB). */
  get isSubscribed(): boolean {
    return this.#isSubscribed && !this.#isFinal && !this.isCanceled;
  }

  /** Whether the tool is stopping; all waits then end at once. */
  get isStopping(): boolean {
    return this.services.pauses.isStopping;
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#cancelReason !== null) this.#controller.abort(this.#cancelReason);
    return this.#controller.signal;
  }

  /** Keeps the first reason. */
  cancel(reason: string): void {
    if (this.#cancelReason !== null) return;
    this.#cancelReason = reason;
    for (const listener of [...(this.#cancelListeners ?? [])]) listener();
    this.#controller?.abort(reason);
  }

  /** Calls back on cancellation. Returns a function that stops listening. */
  onCancel(listener: () => void): () => void {
    this.#cancelListeners ??= new Set();
    const listeners = this.#cancelListeners.add(listener);
    return () => void listeners.delete(listener);
  }

  /** Resolves once no event may follow and the final one was delivered or dropped. */
  subscriptionEnded(): Promise<void> {
    return new Promise(resolve => {
      this.#onFinal = resolve;
      this.onCancel(resolve);
    });
  }

  /** Sends the result that a canceled call still owes (TOOL-ALWAYS). The message does not reveal who closed a thread. */
  async canceled(): Promise<void> {
    const reason = this.#cancelReason;
    if (reason !== null && !this.#isAnswered)
      await this.outcome({ type: 'canceled', reason, by: reason === THREAD_CLOSED ? 'system' : 'user' });
  }

  silence(): void {
    this.#isAnswered = true;
    this.services.log.emit({ kind: 'planned', by: 'fixture', plan: 'silence', ...this.about });
  }

  /** A cancel ends the wait in progress, else the next one: it may come before the first. */
  async pause(ms: number): Promise<void> {
    const { pauses } = this.services;
    if (!this.outlivesCancel) await pauses.wait(ms, this);
    else if (this.#hasCutWait) await pauses.wait(ms);
    this.#hasCutWait ||= this.isCanceled;
  }

  warn(message: string): void {
    this.services.log.emit({ kind: 'warned', message, ...this.about });
  }

  /** Logs each change that middleware made, or would have made to a verbatim result. */
  logChanges(by: 'middleware' | 'verbatim', changes: readonly Change[]): void {
    const lines = by === 'verbatim' ? [changes] : changes.map(change => [change]);
    for (const line of lines)
      this.services.log.emit({ kind: 'shaped', by, changes: [...line], ...this.about });
  }

  /** Fires the oldest wait for a manual trigger. Returns false if the call waits for no trigger. */
  fire(): boolean {
    const [oldest] = this.#triggers ?? [];
    oldest?.();
    return oldest !== undefined;
  }

  /** Accepts a trigger before the wait begins: a client may send it as soon as it sees the previous message. */
  expectTrigger(): void {
    this.#expected ??= this.#awaitTrigger();
  }

  /** Resolves to true when the call is triggered, or to false if the call or the tool ends first. */
  async waitForTrigger(): Promise<boolean> {
    const { log, pauses } = this.services;
    const { fired, unsubscribe } = this.#expected ?? this.#awaitTrigger();
    this.#expected = undefined;
    if (!pauses.isStopping) log.emit({ kind: 'planned', by: 'fixture', plan: 'demand', ...this.about });
    const ending = this.outlivesCancel ? undefined : this;
    const wasFired = (await pauses.within(fired, undefined, ending)) === true;
    unsubscribe();
    if (this.outlivesCancel && !pauses.isStopping) return true;
    const why = this.#cancelReason;
    const event = { what: 'event', type: 'subscription_event', count: 1 } as const;
    if (!wasFired && why !== null) log.emit({ kind: 'dropped', why, ...event, ...this.about });
    return wasFired;
  }

  /** Returns the result of `work`; null if the call is canceled and `work` does not end soon afterwards. */
  unlessCanceled<T>(work: Promise<T>): Promise<T | null> {
    const waitBriefly = () => this.services.pauses.within(work, CANCEL_GRACE_MS);
    const canceled = new Promise<void>(resolve => {
      if (this.isCanceled) resolve();
      else this.onCancel(resolve);
    });
    return Promise.race([work, canceled.then(waitBriefly)]);
  }

  /** Closes all open questions; sends no further message. */
  close(): void {
    this.#isClosed = true;
    for (const close of this.#closers ?? []) close();
  }

  /** Waits for the answer to a question; logs a timeout. */
  protected async answerWithin<A>(answer: Promise<A>, withinMs: number | undefined): Promise<A | null> {
    const { log, pauses } = this.services;
    const since = pauses.now();
    const given = await pauses.within(answer, withinMs, this);
    const afterMs = Math.round(pauses.now() - since);
    if (given === null && !this.isCanceled)
      log.emit({ kind: 'expired', what: 'answer', afterMs, ...this.about });
    return given;
  }

  protected decided(what: 'choice' | 'consent', by: 'person' | 'policy', value: string | number): void {
    this.services.log.emit({ kind: 'decided', what, by, value, ...this.about });
  }

  /** Calls back once, on the next manual trigger that no earlier wait uses. Returns a function that unsubscribes. */
  protected onTrigger(callback: () => void): () => void {
    this.#triggers ??= new Set();
    const triggers = this.#triggers;
    const fire = () => {
      triggers.delete(fire);
      callback();
    };
    triggers.add(fire);
    return () => void triggers.delete(fire);
  }

  /** Calls back at the end of the call. Returns a function that calls back now. */
  protected atClose(close: () => void): () => void {
    this.#closers ??= new Set();
    const closers = this.#closers.add(close);
    return () => {
      closers.delete(close);
      close();
    };
  }

  #answer(reply: ReplyContent, layout?: string, isSubscribed = false): Promise<unknown> {
    const sent = this.answer(reply, layout);
    this.#isAnswered = true;
    this.#isSubscribed = isSubscribed;
    return sent;
  }

  #awaitTrigger(): Trigger {
    let unsubscribe = () => {};
    const fired = new Promise<true>(resolve => {
      unsubscribe = this.onTrigger(() => resolve(true));
    });
    return { fired, unsubscribe };
  }
}

interface Trigger {
  readonly fired: Promise<true>;
  unsubscribe(): void;
}

interface Cancelable {
  readonly isCanceled: boolean;
  onCancel(listener: () => void): () => void;
}

/** Waits that end early: those of one call when it is canceled, all when the tool stops. */
export class Pauses {
  readonly #waits = new Set<() => void>();
  #isStopping = false;

  constructor(private readonly clock: Clock) {}

  now(): number {
    return this.clock.now();
  }

  get isStopping(): boolean {
    return this.#isStopping;
  }

  /** Resolves after `ms` milliseconds, or as soon as the wait ends early. */
  async wait(ms: number, call?: Cancelable): Promise<void> {
    if (ms > 0) await this.within(new Promise<never>(() => {}), ms, call);
  }

  /** Returns the result of `work`; null if it fails, `ms` milliseconds pass first, or the wait ends early. */
  within<T>(work: Promise<T>, ms: number | undefined, call?: Cancelable): Promise<T | null> {
    if (this.#isStopping || call?.isCanceled) return Promise.resolve(null);
    return new Promise(resolve => {
      const settle = (value: T | null) => {
        cancelTimer();
        this.#waits.delete(end);
        stopListening();
        resolve(value);
      };
      const end = () => settle(null);
      const cancelTimer = ms === undefined ? () => {} : this.clock.after(ms, end);
      this.#waits.add(end);
      const stopListening = call?.onCancel(end) ?? (() => {});
      work.then(settle, end);
    });
  }

  endAll(): void {
    this.#isStopping = true;
    for (const end of [...this.#waits]) end();
  }
}
