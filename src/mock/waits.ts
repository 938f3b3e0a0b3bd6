import { SecretPaths } from '../http/secret-paths.js';
import type { Addressee } from '../protocol/read-invocation.js';
import type { Clock } from '../system/clock.js';

/** Reasons, as clauses for the LLM. */
export const CANCELLED = 'the call was canceled';

export const THREAD_CLOSED = 'the thread was closed';

/**
 * Whether a call was canceled, and why. One is made for every call and hardly any is used: an AbortController costs a tenth
 * of all the work for a call, and is made only for code that asks for it.
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

  /** Resolves on cancellation; at once if canceled already. */
  happened(): Promise<void> {
    return this.#reason === null ? new Promise(resolve => this.listen(resolve)) : Promise.resolve();
  }

  /** Calls back on cancellation. Returns how to stop listening. */
  listen(listener: () => void): () => void {
    this.#listeners ??= new Set();
    this.#listeners.add(listener);
    return () => this.#listeners?.delete(listener);
  }
}

/** Waits that end early: for one call when it is canceled, for all when the tool stops. */
export class Pauses {
  readonly #cuts = new Set<() => void>();
  #isHurried = false;

  constructor(private readonly clock: Clock) {}

  /** Monotonic milliseconds. */
  now(): number {
    return this.clock.now();
  }

  /** No wait takes time any more. */
  get isHurried(): boolean {
    return this.#isHurried;
  }

  /** Resolves after `ms` milliseconds, or as soon as the wait ends early. */
  async wait(ms: number, cancellation?: Cancellation): Promise<void> {
    if (ms > 0) await this.within(new Promise<never>(() => {}), ms, cancellation);
  }

  /** The result of `work`; null if it fails, `ms` milliseconds pass first, or the wait ends early. */
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

  /** Ends all waits, now and from now on. */
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

interface WaitingCall {
  /** Of the call, in events. */
  readonly key: string;
  readonly named: Pick<Addressee, 'group_id' | 'id'>;
  readonly fire: () => void;
}

/** Calls that wait for a manual trigger: an event with `on: demand`, a consent at another address. */
export class ManualTriggers {
  /** Oldest first. */
  readonly #waiting = new Set<WaitingCall>();

  wait(key: string, named: WaitingCall['named']): Trigger {
    let fire: () => void = () => {};
    const fired = new Promise<true>(resolve => {
      fire = () => resolve(true);
    });
    const waiting = { key, named, fire };
    this.#waiting.add(waiting);
    return { fired, leave: () => void this.#waiting.delete(waiting) };
  }

  /** Fires the oldest wait of each call, or only of calls with this id, in this thread. Returns how many were fired. */
  fire(id?: string, thread?: string): number {
    const oldest = new Map<string, WaitingCall>();
    for (const each of this.#waiting) {
      const { key, named } = each;
      const isMeant = (id ?? named.id) === named.id && (thread ?? named.group_id) === named.group_id;
      if (isMeant && !oldest.has(key)) oldest.set(key, each);
    }
    for (const each of oldest.values()) {
      this.#waiting.delete(each);
      each.fire();
    }
    return oldest.size;
  }
}

const QUESTIONS_REMEMBERED = 10_000;

/** Questions that wait for an answer over HTTP. Paths are compared in constant time (threats, row 1). */
export class Questions<Answer, About> {
  readonly #paths: SecretPaths<Question<Answer, About>>;
  /** Paths, oldest first; the oldest are forgotten. */
  readonly #closed = new Set<string>();

  constructor(
    prefix: string,
    private readonly remembered = QUESTIONS_REMEMBERED,
  ) {
    this.#paths = new SecretPaths(prefix);
  }

  open(about: About): Question<Answer, About> {
    const question = new Question<Answer, About>(about, path => this.#forgetOldest(path));
    question.path = this.#paths.issue(question).path;
    return question;
  }

  /** @param target path and query, as sent. */
  at(target: string): Question<Answer, About> | undefined {
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

/** A question to a person. */
class Question<Answer, About> {
  /** Path and query, unguessable: anyone who has it may answer. */
  path = '';
  isOpen = true;
  #settle: (answer: Answer) => void = () => {};
  readonly answer = new Promise<Answer>(resolve => {
    this.#settle = resolve;
  });

  constructor(
    readonly about: About,
    private readonly onClosed: (path: string) => void,
  ) {}

  /** Returns false if the question was answered before or is closed: only the first answer counts. */
  resolve(answer: Answer): boolean {
    if (!this.isOpen) return false;
    this.isOpen = false;
    this.#settle(answer);
    return true;
  }

  /** Later answers are accepted and ignored. */
  close(): void {
    this.isOpen = false;
    this.onClosed(this.path);
  }
}
