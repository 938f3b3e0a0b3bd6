import type { Log } from '../events/log.js';
import type { Addressee } from '../protocol/invocation.js';
import type { Clock } from '../system/clock.js';
import type { Change } from './middleware.js';

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

export const CANCELED = 'the call was canceled';

export const THREAD_CLOSED = 'the thread was closed';

/** How long a handler may take to return after a cancel; the caller waits for a result. */
const CANCEL_GRACE_MS = 1_000;

/** A call in progress: its caller, its cancellation, its waits, and its events in the log. */
export class OpenCall {
  readonly about: Required<CallReference>;
  #cancelReason: string | null = null;
  #cancelListeners: Set<() => void> | undefined;
  /** Created lazily, because an AbortController costs a tenth of all the work for a call. */
  #controller: AbortController | undefined;
  #isClosed = false;
  /** Waits for a manual trigger, oldest first. */
  #triggers: Set<() => void> | undefined;
  #closers: Set<() => void> | undefined;

  constructor(
    readonly caller: Caller,
    readonly log: Log,
    readonly pauses: Pauses,
  ) {
    this.about = { calls: [caller.key], thread: caller.addressee.group_id };
  }

  /** Why the call was canceled, as a clause for the LLM; null if it was not. */
  get cancelReason(): string | null {
    return this.#cancelReason;
  }

  get isCanceled(): boolean {
    return this.#cancelReason !== null;
  }

  /** Whether the call accepts no more messages. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Whether the tool is stopping; all waits then end at once. */
  get isStopping(): boolean {
    return this.pauses.isStopping;
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

  /** Returns the result of `work`; null if the call is canceled and `work` does not end soon afterwards. */
  unlessCanceled<T>(work: Promise<T>): Promise<T | null> {
    const waitBriefly = () => this.pauses.within(work, CANCEL_GRACE_MS);
    const canceled = new Promise<void>(resolve => {
      if (this.isCanceled) resolve();
      else this.onCancel(resolve);
    });
    return Promise.race([work, canceled.then(waitBriefly)]);
  }

  /** Waits for the answer to a question; logs a timeout. */
  async answerWithin<A>(answer: Promise<A>, withinMs: number | undefined): Promise<A | null> {
    const { log, pauses } = this;
    const since = pauses.now();
    const given = await pauses.within(answer, withinMs, this);
    const afterMs = Math.round(pauses.now() - since);
    if (given === null && !this.isCanceled)
      log.emit({ kind: 'expired', what: 'answer', afterMs, ...this.about });
    return given;
  }

  /** Calls back once, on the next manual trigger that no earlier wait uses. Returns a function that unsubscribes. */
  onTrigger(callback: () => void): () => void {
    this.#triggers ??= new Set();
    const triggers = this.#triggers;
    const fire = () => {
      triggers.delete(fire);
      callback();
    };
    triggers.add(fire);
    return () => void triggers.delete(fire);
  }

  /** Fires the oldest wait for a manual trigger. Returns false if the call waits for no trigger. */
  fire(): boolean {
    const [oldest] = this.#triggers ?? [];
    oldest?.();
    return oldest !== undefined;
  }

  /** Calls back at the end of the call. Returns a function that calls back now. */
  atClose(close: () => void): () => void {
    this.#closers ??= new Set();
    const closers = this.#closers.add(close);
    return () => {
      closers.delete(close);
      close();
    };
  }

  /** Closes all open questions; no message may follow. */
  close(): void {
    this.#isClosed = true;
    for (const close of this.#closers ?? []) close();
  }

  warn(message: string): void {
    this.log.emit({ kind: 'warned', message, ...this.about });
  }

  logDecision(what: 'choice' | 'consent', by: 'person' | 'policy', value: string | number): void {
    this.log.emit({ kind: 'decided', what, by, value, ...this.about });
  }

  /** Logs each change that middleware made, or would have made to a verbatim result. */
  logChanges(by: 'middleware' | 'verbatim', changes: readonly Change[]): void {
    const lines = by === 'verbatim' ? [changes] : changes.map(change => [change]);
    for (const line of lines) this.log.emit({ kind: 'shaped', by, changes: [...line], ...this.about });
  }
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
