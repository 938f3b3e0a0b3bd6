import { SecretPaths } from '../../transport/secret-paths.js';

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
export interface OpenQuestion<Answer, About> {
  readonly about: About;
  /** Neither answered nor closed. */
  readonly isOpen: boolean;
  /** Counts once; false where it was answered before, or is closed. */
  resolve(answer: Answer): boolean;
}

const REMEMBERED = 10_000;

/**
 * Questions that wait for an answer over HTTP. Their paths are secrets, compared in constant time (threats, row 1). The oldest that
 * are closed are forgotten first.
 */
export class Questions<Answer, About> {
  readonly #paths: SecretPaths<OpenQuestion<Answer, About>>;
  readonly #closed = new Set<string>();

  constructor(
    prefix: string,
    private readonly remembered = REMEMBERED,
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
