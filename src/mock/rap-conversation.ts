import { Content } from '../events/content.js';
import type { Turn } from '../events/events.js';
import type { StepPath } from '../fixtures/fixture-set.js';
import type { CallbackFault } from '../fixtures/schema/file.js';
import { type Outcome, textOfOutcome } from '../protocol/outcome.js';
import { parseJson } from '../util/json.js';
import { isRecord } from '../util/json-diagnosis.js';
import { inLayout } from '../util/json-layout.js';
import {
  type ChoiceQuestion,
  type Consent,
  type ConsentQuestion,
  Conversation,
  type Fields,
} from './conversation.js';
import type { Outbox } from './outbox.js';
import { textOfPayload } from './reply-steps.js';
import type { Caller, CallServices, Questions } from './reply-waits.js';
import type { Callback, Delivery } from './send-callback.js';

type Message = Readonly<Record<string, unknown>>;

/** A callback as it will go over the wire. */
interface Rendering {
  readonly body: Content;
  readonly contentType: string;
  readonly isSlow: boolean;
  /** Milliseconds until it goes out. */
  readonly lateMs: number;
  /** How often it is sent: 0 where it is dropped on purpose. */
  readonly copies: 0 | 1 | 2;
}

/** One byte more than a listener takes by default. */
const TOO_MUCH = 64 * 1024 * 1024 + 1;

/** A message with the faults it was given; without any it is plain JSON (TOOL-POST). */
export function render(message: Message, faults: readonly CallbackFault[], layout?: string): Rendering {
  const jsonOf = (value: Message) => (layout === undefined ? JSON.stringify(value) : inLayout(layout, value));
  if (faults.length === 0) return { body: new Content(Buffer.from(jsonOf(message))), ...FLAWLESS };
  const has = (kind: CallbackFault['kind']) => faults.some(fault => fault.kind === kind);
  const lateMs = faults.reduce((sum, fault) => sum + (fault.kind === 'late' ? fault.ms : 0), 0);
  return {
    body: new Content(Buffer.from(source(jsonOf(misdirected(message, has)), has))),
    contentType: has('wrong-type') ? 'text/plain' : 'application/json',
    isSlow: has('slow'),
    lateMs,
    copies: has('drop') ? 0 : has('duplicate') ? 2 : 1,
  };
}

const FLAWLESS = { contentType: 'application/json', isSlow: false, lateMs: 0, copies: 1 } as const;

function source(json: string, has: (kind: CallbackFault['kind']) => boolean): string {
  if (has('malformed')) return json.slice(0, -1);
  return has('oversize') ? json.padEnd(TOO_MUCH) : json;
}

function misdirected(message: Message, has: (kind: CallbackFault['kind']) => boolean): Message {
  const field = idField(message);
  return {
    ...message,
    ...(has('wrong-id') && Object.hasOwn(message, field) && { [field]: 'unknown-id' }),
    ...(has('wrong-group') && { group_id: 'unknown-thread' }),
  };
}

function idField(message: Message): string {
  return message['type'] === 'subscription_event' ? 'tool_call_id' : 'id';
}

/** What a conversation over RAP needs of the tool. */
export interface RapServices extends CallServices {
  readonly outbox: Outbox;
  readonly choices: Questions<number, ChoiceQuestion>;
  readonly consents: Questions<Consent, ConsentQuestion>;
}

/** What a call has said before a restart. */
interface Said {
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
    private readonly services: RapServices,
    private readonly faultsOf: (callback: number) => readonly CallbackFault[] = () => [],
    { callbacks, isAnswered }: Said = NOTHING_SAID,
  ) {
    super(caller, services, isAnswered);
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
    await this.#send(message, { layout, cancelReason: () => this.caller.cancellation.reason });
    if (isFinal) this.ended();
  }

  async view(fields: Fields, layout?: string): Promise<void> {
    const { group_id } = this.caller.addressee;
    await this.#send({ type: 'view_update', group_id, ...fields }, { layout });
  }

  choice(question: ChoiceQuestion, withinMs?: number, layout?: string): Promise<number | null> {
    const { prompt, choices, default: preset } = question;
    const asked = this.services.choices.open(question);
    const response_url = this.caller.base + asked.path;
    const asks = { type: 'user_choice', ...this.#ids(), prompt, choices, default: preset, response_url };
    const message = { ...furtherFields(layout), ...asks };
    return this.waits.ask({ what: 'choice', asked, preset, withinMs }, () => this.#send(message, { layout }));
  }

  /** On our own consent page, or at `authUrl`. */
  consent(
    question: ConsentQuestion,
    withinMs?: number,
    authUrl?: string,
    layout?: string,
  ): Promise<Consent | null> {
    const asked = this.services.consents.open(question);
    const auth_url = authUrl ?? this.caller.base + asked.path;
    const message = { ...furtherFields(layout), type: 'oauth', ...this.#ids(), auth_url };
    return this.waits.ask<Consent>({ what: 'consent', asked, preset: 'granted', withinMs }, () =>
      this.#send(message, { layout }),
    );
  }

  /** False where it was given up. */
  async #send(
    message: Fields,
    { layout, cancelReason }: { layout?: string | undefined; cancelReason?: Callback['cancelReason'] } = {},
  ): Promise<boolean> {
    const isWanted = () => !cancelReason?.();
    if (!isWanted()) return false;
    const turn = this.#turn();
    const faults = this.faultsOf(turn?.index ?? 0);
    const planned = { by: 'fault', turn, ...typeIn(message) } as const;
    for (const { kind: plan } of faults)
      this.services.log.emit({ kind: 'planned', plan, ...planned, ...this.about() });
    const rendering = render(message, faults, layout);
    if (rendering.lateMs > 0) await this.pause(rendering.lateMs);
    let isGivenUp = false;
    for (let copy = 0; copy < rendering.copies && isWanted(); copy++)
      isGivenUp = !(await this.#post(rendering, turn, cancelReason)).delivered || isGivenUp;
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
    cancelReason: Callback['cancelReason'],
  ): Promise<Delivery> {
    const { key, addressee } = this.caller;
    const { group_id: thread, callback_url: url } = addressee;
    const pace = isSlow ? 'slow' : undefined;
    return this.services.outbox.post({ key, thread, url, body, contentType, pace, turn, cancelReason });
  }

  #ids(): Fields {
    const { group_id, id, call_id } = this.caller.addressee;
    return { group_id, id, ...(call_id !== undefined && { call_id }) };
  }
}

/** Fields of a recorded question that fixtures have no place for. */
function furtherFields(layout = '{}'): Fields {
  const json = parseJson(layout);
  const { call_id: _, ...fields } = json.ok && isRecord(json.value) ? json.value : {};
  return fields;
}

function typeIn({ type }: Fields) {
  return typeof type === 'string' ? { type } : {};
}

const NOTHING_SAID: Said = { callbacks: 0, isAnswered: false };
