/** Tells once that a platform stops. Whoever listens no longer is forgotten: a promise would keep them all. */
export class StopBell {
  readonly #listeners = new Set<() => void>();
  #hasRung = false;

  /** How many still listen. */
  get listeners(): number {
    return this.#listeners.size;
  }

  /** Calls back when it rings, or soon where it has. Returns how to stop listening. */
  listen(listener: () => void): () => void {
    if (this.#hasRung) queueMicrotask(listener);
    else this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  ring(): void {
    this.#hasRung = true;
    for (const listener of [...this.#listeners]) listener();
  }
}
