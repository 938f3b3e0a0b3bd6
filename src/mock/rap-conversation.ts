import { Content } from '../events/content.js';
import type { Turn } from '../events/events.js';
import type { CallbackFault } from '../fixtures/file-schema.js';
import type { StepPath } from '../fixtures/fixture-set.js';
import { type Outcome, textOfOutcome } from '../protocol/outcome.js';
import { parseJson } from '../util/json.js';
import { inLayout } from '../util/json-format.js';
import { isRecord } from '../util/values.js';
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
interface Rendering {
  /** Characters to drop from the end of the JSON. */
  cut: number;
  /** Bytes to fill up to with blanks. */
  length: number;
  contentType: string | undefined;
  pace: Callback['pace'];
  /** Milliseconds until it is sent. */
  lateMs: number;
  /** How often it is sent: 0 if it is dropped on purpose. */
  copies: number;
}

type FaultOf<K> = Extract<CallbackFault, { kind: K }>;

/** What each fault makes of a callback. */
const FAULTS: {
  readonly [K in CallbackFault['kind']]: (
    rendering: Rendering,
    message: Record<string, unknown>,
    fault: FaultOf<K>,
  ) => void;
} = {
  'before-ack': () => {}, // see the intake
  drop: rendering => {
    rendering.copies = 0;
  },
  duplicate: rendering => {
    rendering.copies = Math.min(2, 2 * rendering.copies);
  },
  late: (rendering, _, { ms }) => {
    rendering.lateMs += ms;
  },
  'wrong-id': (_, message) => {
    const field = message['type'] === 'subscription_event' ? 'tool_call_id' : 'id';
    if (Object.hasOwn(message, field)) message[field] = 'unknown-id';
  },
  'wrong-group': (_, message) => {
    message['group_id'] = 'unknown-thread';
  },
  malformed: rendering => {
    rendering.cut = 1;
  },
  oversize: rendering => {
    rendering.length = OVERSIZE;
  },
  slow: rendering => {
    rendering.pace = 'slow';
  },
  'wrong-type': rendering => {
    rendering.contentType = 'text/plain';
  },
};

/** Renders a message with its faults; without any it is plain JSON (TOOL-POST). */
function render(fields: Fields, faults: readonly CallbackFault[], layout?: string) {
  const rendering: Rendering = {
    cut: 0,
    length: 0,
    contentType: undefined,
    pace: undefined,
    lateMs: 0,
    copies: 1,
  };
  const message = faults.length === 0 ? fields : { ...fields };
  for (const fault of faults) {
    const apply: (rendering: Rendering, message: object, fault: CallbackFault) => void = FAULTS[
      fault.kind
    ] as never; // of this very kind
    apply(rendering, message, fault);
  }
  const json = layout === undefined ? JSON.stringify(message) : inLayout(layout, message);
  const { cut, length } = rendering;
  const text = cut > 0 ? json.slice(0, -cut) : json.padEnd(length);
  return { body: new Content(Buffer.from(text)), rendering };
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
    const { body, rendering } = render(message, faults, layout);
    const { lateMs, copies, contentType, pace } = rendering;
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
