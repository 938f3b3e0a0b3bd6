import type { Turn } from '../../exchange/facts.js';
import type { CallbackFault } from '../../fixtures/faults.js';
import type { StepPath } from '../../fixtures/step.js';
import { textOfOutcome } from '../../outcome/conventions.js';
import type { Outcome } from '../../outcome/outcome.js';
import type { Callback, Delivery } from '../delivery/callback.js';
import type { Outbox } from '../delivery/outbox.js';
import type { Change } from '../middleware/shaping.js';
import type { Caller } from './call.js';
import type { ChoiceQuestion, Consent, ConsentQuestion } from './people.js';
import type { Questions } from './questions.js';
import { type Rendering, render } from './rendering.js';
import { Waits, type WaitsDesk } from './waits.js';

type Fields = Readonly<Record<string, unknown>>;

/** What a conversation needs of the tool. */
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
export class Conversation {
  #callbacks: number;
  #isAnswered: boolean;
  #next: StepPath | undefined;
  #isSubscribed = false;
  #isFinal = false;
  #isClosed = false;
  #onFinal: () => void = () => {};
  #hasBegun = false;
  #onBegun: () => void = () => {};
  readonly waits: Waits;

  constructor(
    readonly caller: Caller,
    private readonly desk: Desk,
    private readonly faultsOf: (callback: number) => readonly CallbackFault[] = () => [],
    { callbacks, isAnswered }: Said = NOTHING_SAID,
  ) {
    this.waits = new Waits(caller, desk);
    this.#callbacks = callbacks;
    this.#isAnswered = isAnswered;
  }

  /** Where the reply goes on after what is said next; undefined where that is its end, or where nobody can say yet. */
  goesOnAt(next: StepPath | undefined): void {
    this.#next = next;
  }

  /** Resolves once the first callback was delivered or given up. */
  begun(): Promise<void> {
    return new Promise(resolve => {
      if (this.#hasBegun) resolve();
      else this.#onBegun = resolve;
    });
  }

  /** Whether the call has had its result, or was meant to get none. */
  get isAnswered(): boolean {
    return this.#isAnswered;
  }

  get isCancelled(): boolean {
    return this.caller.callingOff.reason !== null;
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
      this.caller.callingOff.listen(resolve);
    });
  }

  async result(fields: Fields): Promise<void> {
    this.#isAnswered = true;
    this.#isSubscribed = fields['subscription'] === true;
    await this.#send({ type: 'tool_result', ...this.#ids(), ...fields });
  }

  /** What a call that was called off still owes (TOOL-ALWAYS). */
  async canceled(): Promise<void> {
    const { reason } = this.caller.callingOff;
    this.#next = undefined;
    if (reason !== null && !this.#isAnswered) await this.outcome({ type: 'canceled', reason, by: 'user' });
  }

  /** A result with the text of an outcome that is no success (seed 002). */
  outcome(outcome: Outcome): Promise<void> {
    return this.result({ text: textOfOutcome(outcome) ?? '' });
  }

  /** Nothing is sent, and that is what was wanted. */
  silence(): void {
    this.#isAnswered = true;
    this.desk.log.emit({ kind: 'planned', by: 'fixture', plan: 'silence', ...this.#about() });
  }

  /** None after a cancel, however long it was on its way (TOOL-SUB). */
  async event(fields: Fields): Promise<void> {
    const { group_id, id } = this.caller.addressee;
    const message = { type: 'subscription_event', group_id, tool_call_id: id, ...fields };
    const isFinal = fields['final'] === true;
    this.#isFinal ||= isFinal;
    await this.#send(message, () => this.caller.callingOff.reason);
    if (isFinal) this.#onFinal();
  }

  async view(fields: Fields): Promise<void> {
    await this.#send({ type: 'view_update', group_id: this.caller.addressee.group_id, ...fields });
  }

  /** The index that the user picked; null where nobody did within `withinMs` (TOOL-CHOICE). */
  choice(question: ChoiceQuestion, withinMs?: number): Promise<number | null> {
    const { prompt, choices, default: preset } = question;
    const asked = this.desk.choices.open(question);
    const response_url = this.caller.base + asked.path;
    const message = { type: 'user_choice', ...this.#ids(), prompt, choices, default: preset, response_url };
    return this.waits.ask({ what: 'choice', asked, preset, withinMs }, () => this.#send(message));
  }

  /** What the user said on the consent page; null where nobody did within `withinMs` (TOOL-OAUTH). */
  consent(question: ConsentQuestion, withinMs?: number, authUrl?: string): Promise<Consent | null> {
    const asked = this.desk.consents.open(question);
    const message = { type: 'oauth', ...this.#ids(), auth_url: authUrl ?? this.caller.base + asked.path };
    return this.waits.ask<Consent>({ what: 'consent', asked, preset: 'granted', withinMs }, () =>
      this.#send(message),
    );
  }

  /** Nothing is waited for any more. */
  get isStopping(): boolean {
    return this.desk.pauses.isHurried;
  }

  pause(ms: number): Promise<void> {
    return this.desk.pauses.wait(ms, this.caller.callingOff);
  }

  warn(message: string): void {
    this.desk.log.emit({ kind: 'warned', message, ...this.#about() });
  }

  /** How a reply's words became the message: each change is told by itself. */
  shaped(by: 'middleware' | 'verbatim', changes: readonly Change[]): void {
    const told = by === 'verbatim' ? [changes] : changes.map(change => [change]);
    for (const each of told) this.desk.log.emit({ kind: 'shaped', by, changes: [...each], ...this.#about() });
  }

  /** Nobody is asked any more, and nothing is said. */
  close(): void {
    this.#isClosed = true;
    this.waits.close();
  }

  /** False where it was given up. */
  async #send(message: Fields, calledOff?: Callback['calledOff']): Promise<boolean> {
    const isWanted = () => !calledOff?.();
    if (!isWanted()) return false;
    const turn = this.#turn();
    const faults = this.faultsOf(turn?.index ?? 0);
    const planned = { by: 'fault', turn, ...typeIn(message) } as const;
    for (const { kind: plan } of faults)
      this.desk.log.emit({ kind: 'planned', plan, ...planned, ...this.#about() });
    const rendering = render(message, faults);
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

  #about() {
    return { calls: [this.caller.key], thread: this.caller.addressee.group_id };
  }
}

/** What a fault is about, for whoever judges what it does. */
function typeIn({ type }: Fields) {
  return typeof type === 'string' ? { type } : {};
}

const NOTHING_SAID: Said = { callbacks: 0, isAnswered: false };
