import type { Turn } from '../../exchange/facts.js';
import type { CallbackFault } from '../../fixtures/faults.js';
import type { StepPath } from '../../fixtures/step.js';
import { textOfOutcome } from '../../outcome/conventions.js';
import type { Outcome } from '../../outcome/outcome.js';
import type { Callback, Delivery } from '../delivery/callback.js';
import type { Outbox } from '../delivery/outbox.js';
import type { Caller } from './call.js';
import { Conversation, type Fields } from './conversation.js';
import type { ChoiceQuestion, Consent, ConsentQuestion } from './people.js';
import type { Questions } from './questions.js';
import { type Rendering, render } from './rendering.js';
import { textOfPayload } from './text-of-payload.js';
import type { WaitsDesk } from './waits.js';

/** What a conversation over RAP needs of the tool. */
export interface Desk extends WaitsDesk {
  readonly outbox: Outbox;
  readonly choices: Questions<number, ChoiceQuestion>;
  readonly consents: Questions<Consent, ConsentQuestion>;
}

/** What a call has said before a restart. */
export interface Said {
  readonly callbacks: number;
  readonly isAnswered: boolean;
}

/**
 * Everything one call says to its runtime, one callback after the other, each with the ids that the runtime gave
 * (TOOL-GROUP, TOOL-ID, TOOL-CALLID). What the fields say otherwise goes out as they say.
 */
export class RapConversation extends Conversation {
  #callbacks: number;
  #next: StepPath | undefined;
  #hasBegun = false;
  #onBegun: () => void = () => {};

  constructor(
    caller: Caller,
    private readonly desk: Desk,
    private readonly faultsOf: (callback: number) => readonly CallbackFault[] = () => [],
    { callbacks, isAnswered }: Said = NOTHING_SAID,
  ) {
    super(caller, desk, isAnswered);
    this.#callbacks = callbacks;
  }

  override goesOnAt(next: StepPath | undefined): void {
    this.#next = next;
  }

  /** Resolves once the first callback was delivered or given up. */
  begun(): Promise<void> {
    return new Promise(resolve => {
      if (this.#hasBegun) resolve();
      else this.#onBegun = resolve;
    });
  }

  payload(value: unknown): Promise<void> {
    return this.result({ text: textOfPayload(value) });
  }

  async result(fields: Fields, layout?: string): Promise<void> {
    this.answered({ isSubscribed: fields['subscription'] === true });
    await this.#send({ type: 'tool_result', ...this.#ids(), ...fields }, { layout });
  }

  /** The text says it: by convention, since RAP has no outcomes (TOOL-ERRPREFIX). */
  outcome(outcome: Outcome): Promise<void> {
    return this.result({ text: textOfOutcome(outcome) ?? '' });
  }

  /** None after a cancel, however long it was on its way (TOOL-SUB). */
  async event(fields: Fields, layout?: string): Promise<void> {
    const { group_id, id } = this.caller.addressee;
    const message = { type: 'subscription_event', group_id, tool_call_id: id, ...fields };
    const isFinal = this.begins(fields);
    await this.#send(message, { layout, calledOff: () => this.caller.callingOff.reason });
    if (isFinal) this.ended();
  }

  async view(fields: Fields, layout?: string): Promise<void> {
    const { group_id } = this.caller.addressee;
    await this.#send({ type: 'view_update', group_id, ...fields }, { layout });
  }

  choice(question: ChoiceQuestion, withinMs?: number): Promise<number | null> {
    const { prompt, choices, default: preset } = question;
    const asked = this.desk.choices.open(question);
    const response_url = this.caller.base + asked.path;
    const message = { type: 'user_choice', ...this.#ids(), prompt, choices, default: preset, response_url };
    return this.waits.ask({ what: 'choice', asked, preset, withinMs }, () => this.#send(message));
  }

  /** On our own consent page, or at `authUrl`. */
  consent(question: ConsentQuestion, withinMs?: number, authUrl?: string): Promise<Consent | null> {
    const asked = this.desk.consents.open(question);
    const message = { type: 'oauth', ...this.#ids(), auth_url: authUrl ?? this.caller.base + asked.path };
    return this.waits.ask<Consent>({ what: 'consent', asked, preset: 'granted', withinMs }, () =>
      this.#send(message),
    );
  }

  /** False where it was given up. */
  async #send(
    message: Fields,
    { layout, calledOff }: { layout?: string | undefined; calledOff?: Callback['calledOff'] } = {},
  ): Promise<boolean> {
    const isWanted = () => !calledOff?.();
    if (!isWanted()) return false;
    const turn = this.#turn();
    const faults = this.faultsOf(turn?.index ?? 0);
    const planned = { by: 'fault', turn, ...typeIn(message) } as const;
    for (const { kind: plan } of faults)
      this.desk.log.emit({ kind: 'planned', plan, ...planned, ...this.about() });
    const rendering = render(message, faults, layout);
    if (rendering.lateMs > 0) await this.pause(rendering.lateMs);
    let isGivenUp = false;
    for (let copy = 0; copy < rendering.copies && isWanted(); copy++)
      isGivenUp = !(await this.#post(rendering, turn, calledOff)).delivered || isGivenUp;
    this.#hasBegun = true;
    this.#onBegun();
    return !isGivenUp;
  }

  /** Undefined where there is nothing before and nothing after. */
  #turn(): Turn | undefined {
    const index = this.#callbacks++;
    const next = this.#next;
    this.#next = undefined;
    if (next) return { index, next: [...next] };
    return index > 0 ? { index } : undefined;
  }

  #post(
    { body, contentType, isSlow }: Rendering,
    turn: Turn | undefined,
    calledOff: Callback['calledOff'],
  ): Promise<Delivery> {
    const { key, addressee } = this.caller;
    const { group_id: thread, callback_url: url } = addressee;
    const pace = isSlow ? 'slow' : undefined;
    return this.desk.outbox.post({ key, thread, url, body, contentType, pace, turn, calledOff });
  }

  #ids(): Fields {
    const { group_id, id, call_id } = this.caller.addressee;
    return { group_id, id, ...(call_id !== undefined && { call_id }) };
  }
}

/** What a fault is about, for whoever judges what it does. */
function typeIn({ type }: Fields) {
  return typeof type === 'string' ? { type } : {};
}

const NOTHING_SAID: Said = { callbacks: 0, isAnswered: false };
