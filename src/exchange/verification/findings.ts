import type { Findings } from './report.js';

const SHOWN = 100;

/** Counts all there is, and keeps the first hundred. */
export class FindingsCollector<T> {
  #count = 0;
  readonly #examples: T[] = [];

  add(example: T): void {
    this.#count++;
    if (this.#examples.length < SHOWN) this.#examples.push(example);
  }

  /** With `more` added for this once. */
  with(more: readonly T[] = []): Findings<T> {
    return {
      count: this.#count + more.length,
      examples: [...this.#examples, ...more.slice(0, Math.max(0, SHOWN - this.#examples.length))],
    };
  }
}
