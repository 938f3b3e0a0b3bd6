/**
 * Answers on the last stretch of their way. Whoever has answered may say the next thing at once: it must not come in before the answer
 * does, or a callback would seem to have been sent before its acknowledgement (TOOL-ACK).
 */
export class Handovers {
  readonly #due = new Map<string, Promise<void>>();

  /** An answer is on its way there. Returns how to say that it was handed over. */
  begin(lane: string): () => void {
    let handOver = () => {};
    const handed = new Promise<void>(resolve => {
      handOver = resolve;
    });
    const due: Promise<void> = Promise.all([this.#due.get(lane), handed]).then(() => this.#forget(lane, due));
    this.#due.set(lane, due);
    return () => handOver();
  }

  /** Resolves once all that is on its way there by now was handed over. */
  async over(lane: string): Promise<void> {
    await new Promise(setImmediate); // an answer that came in the same moment may not have been read yet
    await this.#due.get(lane);
  }

  #forget(lane: string, due: Promise<void>): void {
    if (this.#due.get(lane) === due) this.#due.delete(lane);
  }
}
