import { SecretPaths } from '../http/secret-paths.js';
import type { Clock } from '../system/clock.js';

interface Cancellable {
  readonly isCancelled: boolean;
  listen(listener: () => void): () => void;
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
  async wait(ms: number, call?: Cancellable): Promise<void> {
    if (ms > 0) await this.within(new Promise<never>(() => {}), ms, call);
  }

  /** The result of `work`; null if it fails, `ms` milliseconds pass first, or the wait ends early. */
  within<T>(work: Promise<T>, ms: number | undefined, call?: Cancellable): Promise<T | null> {
    if (this.#isHurried || call?.isCancelled) return Promise.resolve(null);
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
      const stopListening = call?.listen(cut) ?? (() => {});
      work.then(settle, cut);
    });
  }

  /** Ends all waits, now and from now on. */
  hurry(): void {
    this.#isHurried = true;
    for (const cut of [...this.#cuts]) cut();
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
