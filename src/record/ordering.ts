import type { Clock } from '../system/clock.js';

/** A place in the queue of a thread. */
export interface QueuePlace {
  /** Resolves when those before it have left, or have taken too long. */
  readonly turn: Promise<void>;
  leave(): void;
}

/**
 * Keeps the messages of a thread in one direction in order (RT-SERIAL). Each waits for the answer to the one before, but no longer than
 * `patienceMs` after that one's turn: without a recorder, a slow answer would not delay the others either.
 */
export class ThreadQueues {
  /** When the next turn is. */
  readonly #free = new Map<string, Promise<void>>();

  constructor(
    private readonly clock: Clock,
    private readonly patienceMs: number,
  ) {}

  enter(queue: string): QueuePlace {
    const turn = this.#free.get(queue) ?? Promise.resolve();
    const { promise: left, resolve: leave } = deferred();
    const free = turn.then(() => this.#within(left));
    this.#free.set(queue, free);
    void free.then(() => {
      if (this.#free.get(queue) === free) this.#free.delete(queue);
    });
    return { turn, leave };
  }

  #within(left: Promise<void>): Promise<void> {
    return new Promise(resolve => {
      const cancel = this.clock.after(this.patienceMs, resolve);
      void left.then(cancel).then(resolve);
    });
  }
}

/**
 * Answers that are still being written. A side that has answered may send its next message at once: it must not go on before the answer
 * does, or a callback would seem to have been sent before its acknowledgement (TOOL-ACK).
 */
export class ResponseBarrier {
  readonly #due = new Map<string, Promise<void>>();

  /** Returns what to call once the answer was written. */
  begin(queue: string): () => void {
    const { promise: written, resolve } = deferred();
    const due: Promise<void> = Promise.all([this.#due.get(queue), written]).then(() => {
      if (this.#due.get(queue) === due) this.#due.delete(queue);
    });
    this.#due.set(queue, due);
    return resolve;
  }

  /** Resolves once all answers of the queue that have begun by now are written. */
  async over(queue: string): Promise<void> {
    await new Promise(setImmediate); // an answer that came in the same moment may not have been read yet
    await this.#due.get(queue);
  }
}

function deferred() {
  let resolve = () => {};
  const promise = new Promise<void>(done => {
    resolve = done;
  });
  return { promise, resolve: () => resolve() };
}
