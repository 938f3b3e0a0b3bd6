/** Reasons, as clauses for the LLM. */
export const CANCELLED = 'the call was cancelled';
export const THREAD_CLOSED = 'the thread was closed';

/** Who called it off: a thread is closed by a runtime, and whether a person wanted that nobody says here. */
export function byOf(reason: string): 'user' | 'system' {
  return reason === THREAD_CLOSED ? 'system' : 'user';
}

/**
 * Whether a call was called off, and why. One is made for every call, and hardly any is ever used: an AbortController
 * costs a tenth of all the work there is for a call, and is made only for code that asks for it.
 */
export class CallingOff {
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
  callOff(reason: string): void {
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
