import { isQuestion } from '../protocol/callbacks.js';

/** Which callbacks of a call must arrive: all of them, except for those that are planned to be broken, and for spare copies. */
export class ExpectedCallbacks {
  #expectsResult = true;
  /** The number of planned copies of callbacks: one of each may be lost. */
  #copies = 0;
  /** The callback that is planned to be broken, and may be lost. */
  #broken: 'none' | 'next' | 'current' = 'none';
  #latestType: string | null = null;
  #isResultRefused = false;
  #isAsking = false;

  /** The type of the latest callback that was not accepted yet; null if there is none or it has no type. */
  get latestType(): string | null {
    return this.#latestType;
  }

  /** Whether the latest answer to the result was a refusal. */
  get isResultRefused(): boolean {
    return this.#isResultRefused;
  }

  /** What a call that is still open waits for. */
  get missing(): string {
    return this.#isAsking ? 'the runtime has not answered the question' : 'still pending';
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
    if (attempt === 1) this.#broken = this.#broken === 'next' ? 'current' : 'none';
  }

  onRefused(type: string | null): void {
    if (type === 'tool_result') this.#isResultRefused = true;
  }

  onAccepted(type: string | null): void {
    this.#latestType = null;
    this.#isAsking = isQuestion({ type });
    this.#isResultRefused = false;
  }

  /** The user answered. */
  onAnswered(): void {
    this.#isAsking = false;
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
