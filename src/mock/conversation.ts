import type { Outcome } from '../protocol/outcome.js';
import { type OpenCall, THREAD_CLOSED } from './open-call.js';

export interface ChoiceQuestion {
  readonly prompt: string;
  readonly choices: readonly string[];
  /** Index into `choices` of the option to use if the prompt is dismissed. */
  readonly default: number;
  /** The `id` that the answer must contain. */
  readonly id: string;
}

export interface ConsentQuestion {
  readonly operation: string;
  readonly scopes: readonly string[];
}

export type Consent = 'granted' | 'refused';

/** A form of MCP (elicitation). */
export interface FormQuestion {
  readonly message: string;
  /** JSON Schema of the fields. */
  readonly requestedSchema: Fields;
  /** Its name among the `inputRequests` of 2026-07-28. Default: `form`. */
  readonly id?: string | undefined;
}

export interface FormReply {
  readonly action: 'accept' | 'decline' | 'cancel';
  /** The values of the fields; empty unless the form was accepted. */
  readonly content: Fields;
}

export type Fields = Readonly<Record<string, unknown>>;

/**
 * An answer (seed 003). A `payload` has passed response middleware; `text` is its wrapped form: a string unchanged, other JSON encoded.
 * A `verbatim` result is as written, without middleware.
 */
export type ReplyContent =
  | { readonly kind: 'payload'; readonly payload: unknown; readonly text: string }
  | { readonly kind: 'verbatim'; readonly result: Fields }
  | { readonly kind: 'outcome'; readonly outcome: Outcome };

export interface QuestionOptions {
  /** Milliseconds to wait for an answer. Default: no limit. */
  readonly withinMs?: number | undefined;
  /** The recorded JSON text of the question. */
  readonly recorded?: string | undefined;
}

export interface ChoiceOptions extends QuestionOptions {
  /** The query of the URL of the choice. */
  readonly query?: string | undefined;
}

export interface ConsentOptions extends QuestionOptions {
  /** Default: the mock's own consent page. */
  readonly authUrl?: string | undefined;
}

/**
 * Sends the messages of one call: over RAP, or to a caller in this process. Each promise resolves once its message was delivered or
 * dropped. `recorded` is the JSON text of a recorded message.
 */
export interface Wire {
  /** Whether events are sent. If not, a reply does not wait for the manual trigger of an event. */
  readonly sendsEvents: boolean;
  /** Whether the next message is sent although the call is canceled, as a fault plans it. */
  readonly outlivesCancel: boolean;
  answer(reply: ReplyContent, recorded?: string): Promise<unknown>;
  /** Called instead of `answer` if the call gets no answer on purpose. */
  silence(): void;
  event(fields: Fields, recorded?: string): Promise<unknown>;
  view(fields: Fields, recorded?: string): Promise<unknown>;
  /** Sends any JSON exactly; whether it ends the call is unknown. */
  message(value: unknown, recorded?: string): Promise<unknown>;
  /** Resolves to the index that the user picked, or to null on timeout (TOOL-CHOICE). */
  choice(question: ChoiceQuestion, options?: ChoiceOptions): Promise<number | null>;
  /** Resolves to the user's answer, or to null on timeout (TOOL-OAUTH). */
  consent(question: ConsentQuestion, options?: ConsentOptions): Promise<Consent | null>;
  /** Resolves to the user's answer, or to null on timeout. */
  form(question: FormQuestion, options?: QuestionOptions): Promise<FormReply | null>;
}

/** What is said in one call, for replies and handlers: its messages in order, and whether it has a result. */
export class Conversation {
  #isAnswered = false;
  #isSubscribed = false;
  #isFinal = false;
  #onFinal: () => void = () => {};
  #hasCutWait = false;
  #expected: Trigger | undefined;

  constructor(
    readonly call: OpenCall,
    private readonly wire: Wire,
  ) {}

  /** Whether the call has a result, or gets none on purpose. */
  get isAnswered(): boolean {
    return this.#isAnswered;
  }

  get isFinal(): boolean {
    return this.#isFinal;
  }

  /** Whether events may still follow: no final event and no cancel yet (TOOL-SUB). */
  get isSubscribed(): boolean {
    return this.#isSubscribed && !this.#isFinal && !this.call.isCanceled;
  }

  /** Whether a cancel ends the reply here. */
  get isCutShort(): boolean {
    return this.call.isCanceled && !this.wire.outlivesCancel;
  }

  /** Sends a value that still has to be wrapped. Middleware has already run. @throws TypeError if it is not JSON */
  payload(payload: unknown): Promise<unknown> {
    const text = typeof payload === 'string' ? payload : (JSON.stringify(payload) ?? 'null');
    return this.#answer({ kind: 'payload', payload, text });
  }

  /** Sends a whole result verbatim. @param recorded its recorded JSON text */
  result(result: Fields, recorded?: string): Promise<unknown> {
    return this.#answer({ kind: 'verbatim', result }, recorded, result['subscription'] === true);
  }

  /** Sends any outcome except success (seed 002). */
  outcome(outcome: Outcome): Promise<unknown> {
    return this.#answer({ kind: 'outcome', outcome });
  }

  /** Sends the result that a canceled call still owes (TOOL-ALWAYS). The message does not reveal who closed a thread. */
  async canceled(): Promise<void> {
    const reason = this.call.cancelReason;
    if (reason !== null && !this.#isAnswered)
      await this.outcome({ type: 'canceled', reason, by: reason === THREAD_CLOSED ? 'system' : 'user' });
  }

  silence(): void {
    const { log, about } = this.call;
    this.#isAnswered = true;
    log.emit({ kind: 'planned', by: 'fixture', plan: 'silence', ...about });
    this.wire.silence();
  }

  async event(fields: Fields, recorded?: string): Promise<void> {
    const isFinal = fields['final'] === true;
    this.#isFinal ||= isFinal;
    await this.wire.event(fields, recorded);
    if (isFinal) this.#onFinal();
  }

  view(fields: Fields, recorded?: string): Promise<unknown> {
    return this.wire.view(fields, recorded);
  }

  message(value: unknown, recorded?: string): Promise<unknown> {
    return this.wire.message(value, recorded);
  }

  choice(question: ChoiceQuestion, options?: ChoiceOptions): Promise<number | null> {
    return this.wire.choice(question, options);
  }

  consent(question: ConsentQuestion, options?: ConsentOptions): Promise<Consent | null> {
    return this.wire.consent(question, options);
  }

  form(question: FormQuestion, options?: QuestionOptions): Promise<FormReply | null> {
    return this.wire.form(question, options);
  }

  /** Resolves once no event may follow and the final one was delivered or dropped. */
  subscriptionEnded(): Promise<void> {
    return new Promise(resolve => {
      this.#onFinal = resolve;
      this.call.onCancel(resolve);
    });
  }

  /** A cancel ends the wait in progress, else the next one: it may come before the first. */
  async pause(ms: number): Promise<void> {
    const { call } = this;
    if (!this.wire.outlivesCancel) await call.pauses.wait(ms, call);
    else if (this.#hasCutWait) await call.pauses.wait(ms);
    this.#hasCutWait ||= call.isCanceled;
  }

  /** Accepts a trigger before the wait begins: a client may send it as soon as it sees the previous message. */
  expectTrigger(): void {
    this.#expected ??= triggerOf(this.call);
  }

  /** Resolves to true when the event may be sent: once the call is triggered; to false if the call or the tool ends first. */
  async waitForTrigger(): Promise<boolean> {
    if (!this.wire.sendsEvents) return true;
    const { call } = this;
    const { log, pauses, about } = call;
    const { fired, unsubscribe } = this.#expected ?? triggerOf(call);
    this.#expected = undefined;
    if (!pauses.isStopping) log.emit({ kind: 'planned', by: 'fixture', plan: 'demand', ...about });
    const ending = this.wire.outlivesCancel ? undefined : call;
    const wasFired = (await pauses.within(fired, undefined, ending)) === true;
    unsubscribe();
    if (this.wire.outlivesCancel && !pauses.isStopping) return true;
    const why = call.cancelReason;
    const event = { what: 'event', type: 'subscription_event', count: 1 } as const;
    if (!wasFired && why !== null) log.emit({ kind: 'dropped', why, ...event, ...about });
    return wasFired;
  }

  #answer(reply: ReplyContent, recorded?: string, isSubscribed = false): Promise<unknown> {
    const sent = this.wire.answer(reply, recorded);
    this.#isAnswered = true;
    this.#isSubscribed = isSubscribed;
    return sent;
  }
}

interface Trigger {
  readonly fired: Promise<true>;
  unsubscribe(): void;
}

function triggerOf(call: OpenCall): Trigger {
  let unsubscribe = () => {};
  const fired = new Promise<true>(resolve => {
    unsubscribe = call.onTrigger(() => resolve(true));
  });
  return { fired, unsubscribe };
}
