import type { UserChoice } from '../../protocol/callbacks/index.js';
import type { Answering } from '../../runtime/questions.js';

/** Questions that wait for a person, who answers in their own order. */
export class Answers {
  readonly #waiting = new Map<UserChoice, (selected: number | null) => void>();

  readonly answering: Answering = {
    by: 'person',
    select: (question, signal) =>
      new Promise(resolve => {
        const callOff = () => settle(null);
        const settle = (selected: number | null) => {
          this.#waiting.delete(question);
          signal.removeEventListener('abort', callOff);
          resolve(selected);
        };
        if (signal.aborted) return resolve(null);
        this.#waiting.set(question, settle);
        signal.addEventListener('abort', callOff);
      }),
  };

  /** Whether somebody waited for this answer. */
  give(question: UserChoice, selected: number): boolean {
    const settle = this.#waiting.get(question);
    settle?.(selected);
    return settle !== undefined;
  }
}
