import { isQuestion } from '../protocol/callbacks.js';

const UNANSWERED = 'the runtime has not answered the question';

/** Which callbacks of a call must arrive: all of them, except for those that are planned to be broken, and for spare copies. */
export class ExpectedCallbacks {
  #expectsResult = true;
  /** The number of planned copies of callbacks: one of each may be lost. */
  #copies = 0;
  /** The callback that is planned to be broken, and may be lost. */
  #broken: 'none' | 'next' | 'current' = 'none';
  #latestType: string | null = null;
  #isResultRefused = false;
  /** Whether a question was sent and not answered. */
  #isAsking = false;
  #refusedAnswer: string | null = null;

  /** The type of the latest callback that was not accepted yet; null if there is none or it has no type. */
  get latestType(): string | null {
    return this.#latestType;
  }

  /** Whether the latest answer to the result was a refusal. */
  get isResultRefused(): boolean {
    return this.#isResultRefused;
  }

  /** Whether the latest callback is planned to be broken. */
  get isBroken(): boolean {
    return this.#broken === 'current';
  }

  /** What a call that is still open waits for. */
  get missing(): string {
    if (this.isAnswerRefused) return `${UNANSWERED}: ${this.#refusedAnswer}`;
    return this.#isAsking && this.#latestType === null ? UNANSWERED : 'still pending';
  }

  /** Whether the mock refused every answer to a question. */
  get isAnswerRefused(): boolean {
    return this.#refusedAnswer !== null;
  }

  expectNoResult(): void {
    this.#expectsResult = false;
  }

  /** A callback is planned to be sent twice. */
  planCopy(): void {
    this.#copies++;
  }

  /** The next callback is planned to be broken, or not to be sent. */
  planBroken({ isSent }: { readonly isSent: boolean }): void {
    this.#broken = isSent ? 'next' : 'none';
  }

  onSent(type: string | null, attempt: number): void {
    this.#latestType = type;
    this.#isAsking ||= attempt === 1 && isQuestion({ type });
    if (attempt === 1) this.#broken = this.#broken === 'next' ? 'current' : 'none';
  }

  onRefused(type: string | null): void {
    if (type === 'tool_result') this.#isResultRefused = true;
  }

  onAccepted(): void {
    this.#latestType = null;
    this.#isResultRefused = false;
  }

  /** The user answered. */
  onAnswered(): void {
    this.#isAsking = false;
    this.#refusedAnswer = null;
  }

  /** @param why the status and the reason */
  onAnswerRefused(why: string): void {
    if (this.#isAsking) this.#refusedAnswer = `its answer was refused with ${why}`;
  }

  /** The latest callback was given up. Returns whether it may be lost. */
  onLost(): boolean {
    if (!this.#expectsResult) return true;
    if (this.#broken !== 'none') {
      this.#broken = 'none';
      return true;
    }
    if (this.#copies === 0) return false;
    this.#copies--;
    return true;
  }
}
