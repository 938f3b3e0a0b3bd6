import { Content } from '../events/content.js';
import type { Turn } from '../events/events.js';
import type { StepPath } from '../fixtures/fixture-set.js';
import type { CallbackFault } from '../fixtures/schema/file.js';
import { type Outcome, textOfOutcome } from '../protocol/outcome.js';
import { parseJson } from '../util/json.js';
import { isRecord } from '../util/json-diagnosis.js';
import { inLayout } from '../util/json-layout.js';
import {
  type Asking,
  type Caller,
  type CallServices,
  type ChoiceQuestion,
  type Consent,
  type ConsentQuestion,
  Conversation,
  type Fields,
} from './conversation.js';
import type { Callback, Outbox } from './outbox.js';
import { textOfPayload } from './reply-player.js';
import type { Questions } from './waits.js';

/** One byte more than a listener accepts by default. */
const OVERSIZE = 64 * 1024 * 1024 + 1;

/** A callback as it goes over the wire. */
interface Rendering extends Pick<Callback, 'body' | 'contentType' | 'pace'> {
  /** Milliseconds until it is sent. */
  readonly lateMs: number;
  /** How often it is sent: 0 if it is dropped on purpose. */
  readonly copies: 0 | 1 | 2;
}

/** Renders a message with its faults; without any it is plain JSON (TOOL-POST). */
function render(message: Fields, faults: readonly CallbackFault[], layout?: string): Rendering {
  const jsonOf = (value: Fields) => (layout === undefined ? JSON.stringify(value) : inLayout(layout, value));
  if (faults.length === 0) return { body: new Content(Buffer.from(jsonOf(message))), lateMs: 0, copies: 1 };
  const has = (kind: CallbackFault['kind']) => faults.some(fault => fault.kind === kind);
  const json = jsonOf(misdirected(message, has));
  const text = has('malformed') ? json.slice(0, -1) : has('oversize') ? json.padEnd(OVERSIZE) : json;
  return {
    body: new Content(Buffer.from(text)),
    ...(has('wrong-type') && { contentType: 'text/plain' }),
    ...(has('slow') && { pace: 'slow' }),
    lateMs: faults.reduce((sum, fault) => sum + (fault.kind === 'late' ? fault.ms : 0), 0),
    copies: has('drop') ? 0 : has('duplicate') ? 2 : 1,
  };
}

function misdirected(message: Fields, has: (kind: CallbackFault['kind']) => boolean): Fields {
  const idField = message['type'] === 'subscription_event' ? 'tool_call_id' : 'id';
  return {
    ...message,
    ...(has('wrong-id') && Object.hasOwn(message, idField) && { [idField]: 'unknown-id' }),
    ...(has('wrong-group') && { group_id: 'unknown-thread' }),
  };
}

/** What a conversation over RAP needs of the tool. */
export interface RapServices extends CallServices {
  readonly outbox: Outbox;
  readonly choices: Questions<number, ChoiceQuestion>;
  readonly consents: Questions<Consent, ConsentQuestion>;
}

/** What a call sent before a restart. */
interface Sent {
  readonly callbacks: number;
  readonly isAnswered: boolean;
}

interface Sending {
  readonly layout?: string | undefined;
  readonly cancelReason?: Callback['cancelReason'];
}

/**
 * Sends all callbacks of one call, one after the other, each with the ids that the runtime gave (TOOL-GROUP, TOOL-ID,
 * TOOL-CALLID). Ids in the fields of a fixture replace them.
 */
export class RapConversation extends Conversation {
  #callbacks: number;
  #next: StepPath | undefined;
  #hasBegun = false;
  #onBegun: () => void = () => {};

  constructor(
    caller: Caller,
    protected override readonly services: RapServices,
    private readonly faultsOf: (callback: number) => readonly CallbackFault[] = () => [],
    { callbacks, isAnswered }: Sent = { callbacks: 0, isAnswered: false },
  ) {
    super(caller, services, isAnswered);
    this.#callbacks = callbacks;
  }

  override continuesAt(next: StepPath | undefined): void {
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

  /** The text says it by convention, since RAP has no outcomes (TOOL-ERRPREFIX). */
  outcome(outcome: Outcome): Promise<void> {
    return this.result({ text: textOfOutcome(outcome) ?? '' });
  }

  /** Not sent after a cancel, however long it was on its way (TOOL-SUB). */
  async event(fields: Fields, layout?: string): Promise<void> {
    const { group_id, id } = this.caller.addressee;
    const message = { type: 'subscription_event', group_id, tool_call_id: id, ...fields };
    const isFinal = this.beginEvent(fields);
    await this.#send(message, { layout, cancelReason: () => this.caller.cancellation.reason });
    if (isFinal) this.finalSent();
  }

  async view(fields: Fields, layout?: string): Promise<void> {
    const { group_id } = this.caller.addressee;
    await this.#send({ type: 'view_update', group_id, ...fields }, { layout });
  }

  choice(question: ChoiceQuestion, asking: Asking = {}): Promise<number | null> {
    const { prompt, choices, default: preset } = question;
    const asked = this.services.choices.open(question);
    const response_url = this.caller.base + asked.path;
    const message = { type: 'user_choice', prompt, choices, default: preset, response_url };
    return this.#ask('choice', { message, asked, preset, asking });
  }

  /** On our own consent page, or at `authUrl`. */
  consent(
    question: ConsentQuestion,
    { authUrl, ...asking }: Asking & { readonly authUrl?: string | undefined } = {},
  ): Promise<Consent | null> {
    const asked = this.services.consents.open(question);
    const message = { type: 'oauth', auth_url: authUrl ?? this.caller.base + asked.path };
    return this.#ask('consent', { message, asked, preset: 'granted', asking });
  }

  /** A manual trigger answers with the preset. A question that was not delivered is not waited for. */
  async #ask<A extends string | number>(
    what: 'choice' | 'consent',
    { message, asked, preset, asking: { withinMs, layout } }: AskedQuestion<A>,
  ): Promise<A | null> {
    const { key, addressee } = this.caller;
    const { fired, leave } = this.services.triggers.wait(key, addressee);
    const close = this.atClose(() => {
      leave();
      asked.close();
    });
    void fired.then(() => asked.resolve(preset) && this.decided(what, 'policy', preset));
    const { type, ...fields } = message;
    const isDelivered = await this.#send(
      { ...furtherFields(layout), type, ...this.#ids(), ...fields },
      { layout },
    );
    const answer = isDelivered ? await this.answerWithin(asked.answer, withinMs) : null;
    close();
    return answer;
  }

  /** Returns false if it was given up. */
  async #send(message: Fields, { layout, cancelReason }: Sending): Promise<boolean> {
    const isWanted = () => !cancelReason?.();
    if (!isWanted()) return false;
    const turn = this.#turn();
    const faults = this.faultsOf(turn?.index ?? 0);
    for (const { kind: plan } of faults) {
      const type = typeof message['type'] === 'string' ? { type: message['type'] } : {};
      this.services.log.emit({ kind: 'planned', plan, by: 'fault', turn, ...type, ...this.about() });
    }
    const { lateMs, copies, body, contentType, pace } = render(message, faults, layout);
    const { key, addressee } = this.caller;
    const { group_id: thread, callback_url: url } = addressee;
    if (lateMs > 0) await this.pause(lateMs);
    let isDelivered = true;
    for (let copy = 0; copy < copies && isWanted(); copy++) {
      const callback = { key, thread, url, body, contentType, pace, turn, cancelReason };
      isDelivered = (await this.services.outbox.post(callback)).delivered && isDelivered;
    }
    this.#hasBegun = true;
    this.#onBegun();
    return isDelivered;
  }

  /** Undefined for the only message. */
  #turn(): Turn | undefined {
    const index = this.#callbacks++;
    const next = this.#next;
    this.#next = undefined;
    if (next) return { index, next: [...next] };
    return index > 0 ? { index } : undefined;
  }

  #ids(): Fields {
    const { group_id, id, call_id } = this.caller.addressee;
    return { group_id, id, ...(call_id !== undefined && { call_id }) };
  }
}

interface AskedQuestion<A> {
  readonly message: Fields;
  readonly asked: { readonly answer: Promise<A>; resolve(answer: A): boolean; close(): void };
  readonly preset: A;
  readonly asking: Asking;
}

/** Fields of a recorded question that fixtures have no place for. */
function furtherFields(layout = '{}'): Fields {
  const json = parseJson(layout);
  const { call_id: _, ...fields } = json.ok && isRecord(json.value) ? json.value : {};
  return fields;
}
