import type { StepPath } from '../fixtures/fixture-set.js';
import type { Outcome } from '../protocol/outcome.js';
import type { Change } from './middleware/redact.js';
import { byOf, type Caller, type CallServices, CallWaits } from './reply-waits.js';

/** What a user is asked to pick from. */
export interface ChoiceQuestion {
  readonly prompt: string;
  readonly choices: readonly string[];
  /** An index into `choices`: what counts where the prompt is dismissed. */
  readonly default: number;
  /** Names the call and its thread, for the log. */
  readonly calls: readonly string[];
  readonly thread: string;
  /** The `id` that the answer must name. */
  readonly id: string;
}

/** What a user is asked to allow. */
export interface ConsentQuestion {
  readonly operation: string;
  readonly scopes: readonly string[];
  readonly calls: readonly string[];
  readonly thread: string;
}

export type Consent = 'granted' | 'refused';

export type Fields = Readonly<Record<string, unknown>>;

/**
 * All messages of one call and its progress: what replies and handlers write to. Subclasses send the messages over RAP or
 * within this process.
 */
export abstract class Conversation {
  #isAnswered: boolean;
  #isSubscribed = false;
  #isFinal = false;
  #isClosed = false;
  #onFinal: () => void = () => {};
  readonly waits: CallWaits;

  constructor(
    readonly caller: Caller,
    private readonly around: CallServices,
    isAnswered = false,
  ) {
    this.#isAnswered = isAnswered;
    this.waits = new CallWaits(caller, around);
  }

  /** A value that is wrapped: a string is the text, other JSON is encoded. It has been through middleware. */
  abstract payload(value: unknown): Promise<void>;

  /** A whole result, as it was written. @param layout the JSON text that it was recorded with */
  abstract result(fields: Fields, layout?: string): Promise<void>;

  /** Any result but success (seed 002). */
  abstract outcome(outcome: Outcome): Promise<void>;

  abstract event(fields: Fields, layout?: string): Promise<void>;

  abstract view(fields: Fields, layout?: string): Promise<void>;

  /** The index that the user picked; null without an answer within `withinMs` (TOOL-CHOICE). */
  abstract choice(question: ChoiceQuestion, withinMs?: number, layout?: string): Promise<number | null>;

  /** The answer of the user; null without one within `withinMs` (TOOL-OAUTH). */
  abstract consent(
    question: ConsentQuestion,
    withinMs?: number,
    authUrl?: string,
    layout?: string,
  ): Promise<Consent | null>;

  /** Sets where the reply continues after the next message; undefined at its end or if unknown. */
  goesOnAt(_next: StepPath | undefined): void {}

  /** Whether the call has had its result, or was meant to get none. */
  get isAnswered(): boolean {
    return this.#isAnswered;
  }

  get isCancelled(): boolean {
    return this.caller.cancellation.reason !== null;
  }

  /** Nothing may be said any more. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The last event was said. */
  get isFinal(): boolean {
    return this.#isFinal;
  }

  /** Events may follow the result: until the last one, or until the call is called off (TOOL-SUB). */
  get goesOn(): boolean {
    return this.#isSubscribed && !this.#isFinal && !this.isCancelled;
  }

  /** Resolves once a conversation that {@link goesOn} does so no more, and its last event was delivered or given up. */
  over(): Promise<void> {
    return new Promise(resolve => {
      this.#onFinal = resolve;
      this.caller.cancellation.listen(resolve);
    });
  }

  /** What a call that was called off still owes (TOOL-ALWAYS). */
  async canceled(): Promise<void> {
    const { reason } = this.caller.cancellation;
    this.goesOnAt(undefined);
    if (reason !== null && !this.#isAnswered)
      await this.outcome({ type: 'canceled', reason, by: byOf(reason) });
  }

  /** Nothing is sent, and that is what was wanted. */
  silence(): void {
    this.#isAnswered = true;
    this.around.log.emit({ kind: 'planned', by: 'fixture', plan: 'silence', ...this.about() });
  }

  /** Nothing is waited for any more. */
  get isStopping(): boolean {
    return this.around.pauses.isHurried;
  }

  pause(ms: number): Promise<void> {
    return this.around.pauses.wait(ms, this.caller.cancellation);
  }

  warn(message: string): void {
    this.around.log.emit({ kind: 'warned', message, ...this.about() });
  }

  /** Logs each change that middleware made. */
  shaped(by: 'middleware' | 'verbatim', changes: readonly Change[]): void {
    const told = by === 'verbatim' ? [changes] : changes.map(change => [change]);
    for (const each of told)
      this.around.log.emit({ kind: 'shaped', by, changes: [...each], ...this.about() });
  }

  /** Closes all open questions; no further message is sent. */
  close(): void {
    this.#isClosed = true;
    this.waits.close();
  }

  /** From now on the call has its result, or is meant to get none. */
  protected answered({ isSubscribed = false } = {}): void {
    this.#isAnswered = true;
    this.#isSubscribed = isSubscribed;
  }

  /** An event is about to be said: whether it is the last. */
  protected begins(event: Fields): boolean {
    const isFinal = event['final'] === true;
    this.#isFinal ||= isFinal;
    return isFinal;
  }

  /** The last event was delivered or given up. */
  protected ended(): void {
    this.#onFinal();
  }

  protected about() {
    return { calls: [this.caller.key], thread: this.caller.addressee.group_id };
  }
}
