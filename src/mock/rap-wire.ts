import { writeAs } from '../dialects/dialects.js';
import { Content } from '../events/content.js';
import type { Turn } from '../events/events.js';
import type { CallbackFault } from '../fixtures/file-schema.js';
import { SecretPaths } from '../http/secret-paths.js';
import { CALLBACK_TRAITS, type CallbackType, traitsOf } from '../protocol/callbacks.js';
import { textOfOutcome } from '../protocol/outcome.js';
import { RecentMap } from '../util/collections.js';
import { parseJson } from '../util/json.js';
import { formatLike } from '../util/json-text.js';
import { LIMITS } from '../util/limits.js';
import { isRecord, valueAt } from '../util/values.js';
import type {
  ChoiceOptions,
  ChoiceQuestion,
  Consent,
  ConsentOptions,
  ConsentQuestion,
  Fields,
  FormQuestion,
  FormReply,
  QuestionOptions,
  ReplyContent,
  Wire,
} from './conversation.js';
import { answerOfLocal, isOnlyOfMcp } from './mcp-answer.js';
import type { CallReference, OpenCall } from './open-call.js';
import type { Callback, CancelReason, Outbox } from './outbox.js';
import type { FaultsOf } from './plan.js';

/** One byte more than a listener accepts by default. */
const OVERSIZE = LIMITS.messageBytes.value + 1;

interface Sending extends Pick<Callback, 'contentType' | 'pace'> {
  /** Number of characters to cut off the end of the JSON. */
  readonly cut?: number;
  /** Size to pad to with spaces, in bytes. */
  readonly length?: number;
  readonly lateMs?: number;
  /** Whether it is sent although the call is canceled. */
  readonly outlivesCancel?: boolean;
  readonly isDropped?: boolean;
  readonly isTwice?: boolean;
}

const AS_USUAL: Sending = {};

type FaultOf<K> = Extract<CallbackFault, { kind: K }>;

/** The effect of each fault on a callback; some change its message. */
const FAULTS: {
  readonly [K in CallbackFault['kind']]: (fault: FaultOf<K>, message: unknown) => Sending;
} = {
  'before-ack': () => AS_USUAL, // handled by the intake
  drop: () => ({ isDropped: true }),
  duplicate: () => ({ isTwice: true }),
  late: ({ value }) => ({ lateMs: value }),
  'wrong-id': (_, message) => {
    const { idField } = traitsOf(valueAt(message, 'type')) ?? CALLBACK_TRAITS.tool_result;
    if (idField) replace(message, idField, 'unknown-id');
    return AS_USUAL;
  },
  'wrong-group': (_, message) => {
    if (isRecord(message)) message['group_id'] = 'unknown-thread';
    return AS_USUAL;
  },
  malformed: () => ({ cut: 1 }),
  oversize: () => ({ length: OVERSIZE }),
  slow: () => ({ pace: 'slow' }),
  'wrong-type': () => ({ contentType: 'text/plain' }),
  'after-cancel': () => ({ outlivesCancel: true }),
};

function replace(message: unknown, field: string, value: string): void {
  if (isRecord(message) && Object.hasOwn(message, field)) message[field] = value;
}

function effectOf<K extends CallbackFault['kind']>(
  fault: FaultOf<K> & { kind: K },
  message: unknown,
): Sending {
  return FAULTS[fault.kind](fault, message);
}

/** All effects together; delays add up. */
function sumOf(effects: readonly Sending[]): Sending {
  const lateMs = effects.reduce((sum, effect) => sum + (effect.lateMs ?? 0), 0);
  return Object.assign({}, ...effects, { lateMs });
}

/** Renders a message with its faults; without any it is plain JSON (TOOL-POST). */
function render(written: unknown, faults: readonly CallbackFault[], recorded?: string) {
  const message = faults.length > 0 && isRecord(written) ? { ...written } : written;
  const sending = faults.length > 0 ? sumOf(faults.map(fault => effectOf(fault, message))) : AS_USUAL;
  const isRecorded = recorded !== undefined && isRecord(message);
  const json = isRecorded ? formatLike(recorded, message) : JSON.stringify(message);
  const { cut = 0, length = 0 } = sending;
  const text = cut > 0 ? json.slice(0, -cut) : json.padEnd(length);
  return { body: new Content(Buffer.from(text)), sending };
}

/** Questions that are answered over HTTP. Paths of open ones are compared in constant time (threats, row 1). */
class Questions<Answer, About> {
  readonly #open: SecretPaths<Question<Answer, About>>;
  /** Later answers to these are accepted and ignored. */
  readonly #closed = new RecentMap<string, Question<Answer, About>>(LIMITS.callsRemembered.value);

  constructor(prefix: string) {
    this.#open = new SecretPaths(prefix);
  }

  open(about: About): Question<Answer, About> {
    const question = new Question<Answer, About>(about, path => {
      this.#open.forget(path);
      this.#closed.set(path, question);
    });
    question.path = this.#open.issue(question).path;
    return question;
  }

  /** @param target path and query, as sent. */
  at(target: string): Question<Answer, About> | undefined {
    return this.#open.resolve(target) ?? this.#closed.get(target);
  }
}

class Question<Answer, About> {
  /** Unguessable path and query: anyone who has it may answer. */
  path = '';
  isOpen = true;
  #settle: (answer: Answer) => void = () => {};
  readonly answer = new Promise<Answer>(resolve => {
    this.#settle = resolve;
  });

  constructor(
    readonly about: About,
    private readonly onClosed: (path: string) => void,
  ) {}

  /** Answers the question. Returns false if it is answered or closed: only the first answer counts. */
  resolve(answer: Answer): boolean {
    if (!this.isOpen) return false;
    this.isOpen = false;
    this.#settle(answer);
    return true;
  }

  /** Closes the question: later answers are accepted and ignored. */
  close(): void {
    this.isOpen = false;
    this.onClosed(this.path);
  }
}

export interface AskedChoice extends ChoiceQuestion {
  readonly about: Required<CallReference>;
  /** The query of its URL, with the question mark. */
  readonly search: string;
}

export interface AskedConsent extends ConsentQuestion {
  readonly about: Required<CallReference>;
}

/** The questions of all calls. */
export class RapQuestions {
  static readonly consentPath = '/authorize';
  readonly choices = new Questions<number, AskedChoice>('/choices/');
  /** The state is in the query, since a logged `auth_url` has none (threats, row 25). */
  readonly consents = new Questions<Consent, AskedConsent>(`${RapQuestions.consentPath}?state=`);
}

const NOT_SENT = Promise.resolve(false);

interface SendOptions {
  readonly recorded?: string | undefined;
  readonly cancelReason?: CancelReason;
  /** Fields to add unless the message has them. */
  readonly further?: Fields;
}

/**
 * Sends all callbacks of one call in order, each with the ids from the runtime (TOOL-GROUP, TOOL-ID, TOOL-CALLID). Ids in the fields
 * of a fixture replace them.
 */
export class RapWire implements Wire {
  readonly sendsEvents = true;
  #callbacks = 0;
  #hasBegun = false;
  #onBegun: () => void = () => {};

  constructor(
    private readonly call: OpenCall,
    private readonly outbox: Outbox,
    private readonly questions: RapQuestions,
    private readonly faultsOf: FaultsOf,
  ) {}

  get outlivesCancel(): boolean {
    return this.call.isCanceled && this.faultsOf(this.#callbacks).some(({ kind }) => kind === 'after-cancel');
  }

  /** Resolves once the first callback was delivered or dropped. */
  begun(): Promise<void> {
    return new Promise(resolve => {
      if (this.#hasBegun) resolve();
      else this.#onBegun = resolve;
    });
  }

  answer(reply: ReplyContent, recorded?: string): Promise<unknown> {
    if (reply.kind === 'verbatim' && isOnlyOfMcp(reply.result))
      return this.#send('tool_result', this.#translated(reply), {});
    return this.#send('tool_result', fieldsOf(reply), { recorded });
  }

  /** Nothing to send. */
  silence(): void {}

  /** Sends no event after a cancel (TOOL-SUB), unless a fault plans it. */
  event(fields: Fields, recorded?: string): Promise<unknown> {
    const cancelReason = () => this.call.cancelReason;
    return this.#send('subscription_event', fields, { recorded, cancelReason });
  }

  view(fields: Fields, recorded?: string): Promise<unknown> {
    return this.#send('view_update', fields, { recorded });
  }

  message(value: unknown, recorded?: string): Promise<unknown> {
    const { log, about } = this.call;
    const type = typeNameOf(value) ?? '';
    log.emit({ kind: 'planned', by: 'fixture', plan: 'message', type, ...about });
    return this.#sendMessage(value, { recorded });
  }

  choice(question: ChoiceQuestion, options: ChoiceOptions = {}): Promise<number | null> {
    const { prompt, choices, default: preset } = question;
    const { caller, about } = this.call;
    const search = options.query === undefined ? '' : `?${options.query}`;
    const asked = this.questions.choices.open({ ...question, search, about });
    const response_url = caller.base + asked.path + search;
    const fields = { prompt, choices, default: preset, response_url };
    return this.#ask('choice', 'user_choice', fields, asked, preset, options);
  }

  /** Asks on our own consent page, or at `authUrl`. */
  consent(question: ConsentQuestion, options: ConsentOptions = {}): Promise<Consent | null> {
    const { caller, about } = this.call;
    const asked = this.questions.consents.open({ ...question, about });
    const fields = { auth_url: options.authUrl ?? caller.base + asked.path };
    return this.#ask('consent', 'oauth', fields, asked, 'granted', options);
  }

  async form({ message }: FormQuestion): Promise<FormReply> {
    this.call.warn(`the form "${message}" is asked over MCP only; it counts as canceled`);
    return { action: 'cancel', content: {} };
  }

  /** Asks a question. A manual trigger answers it with the preset. Does not wait for an answer if the question was not delivered. */
  async #ask<A extends string | number>(
    what: 'choice' | 'consent',
    type: CallbackType,
    fields: Fields,
    asked: { readonly answer: Promise<A>; resolve(answer: A): boolean; close(): void },
    preset: A,
    { withinMs, recorded }: QuestionOptions,
  ): Promise<A | null> {
    const { call } = this;
    const unsubscribe = call.onTrigger(() => {
      if (asked.resolve(preset)) call.logDecision(what, 'policy', preset);
    });
    const close = call.atClose(() => {
      unsubscribe();
      asked.close();
    });
    const isDelivered = await this.#send(type, fields, { recorded, further: furtherFields(recorded) });
    const answer = isDelivered ? await call.answerWithin(asked.answer, withinMs) : null;
    close();
    return answer;
  }

  /** The text and the images of a result of MCP, with a warning about the rest. */
  #translated(reply: ReplyContent): Fields {
    const { body, warnings } = writeAs('rap', answerOfLocal({ id: null }, reply));
    for (const { message } of warnings) this.call.warn(message);
    const { text, content } = isRecord(body) ? body : {};
    return { text, ...(content !== undefined && { content }) };
  }

  /** Resolves to false if the message was dropped. */
  #send(type: CallbackType, fields: Fields, options: SendOptions): Promise<boolean> {
    if (options.cancelReason?.() && !this.outlivesCancel) return NOT_SENT;
    return this.#sendMessage({ ...options.further, type, ...this.#ids(type), ...fields }, options);
  }

  #sendMessage(message: unknown, { recorded, cancelReason }: SendOptions): Promise<boolean> {
    const { call } = this;
    const { about } = call;
    const turn = this.#turn();
    const type = typeNameOf(message);
    const faults = this.faultsOf(turn?.index ?? 0);
    for (const { kind: plan } of faults) {
      if (plan === 'after-cancel' && !call.isCanceled) continue;
      call.log.emit({ kind: 'planned', plan, by: 'fault', turn, type, ...about });
    }
    const { body, sending } = render(message, faults, recorded);
    const { contentType, pace } = sending;
    const { callback_url: url } = call.caller.addressee;
    const stops = sending.outlivesCancel ? undefined : cancelReason;
    return this.#post({ about, url, body, type, contentType, pace, turn, cancelReason: stops }, sending);
  }

  async #post(callback: Callback, sending: Sending): Promise<boolean> {
    const { lateMs = 0, outlivesCancel, isDropped, isTwice } = sending;
    const copies = isDropped ? 0 : isTwice ? 2 : 1;
    if (lateMs > 0) await this.call.pauses.wait(lateMs, outlivesCancel ? undefined : this.call);
    let isDelivered = true;
    for (let copy = 0; copy < copies && !callback.cancelReason?.(); copy++)
      isDelivered = (await this.outbox.post(callback)) && isDelivered;
    this.#hasBegun = true;
    this.#onBegun();
    return isDelivered;
  }

  /** Undefined for the only message. */
  #turn(): Turn | undefined {
    const index = this.#callbacks++;
    return index > 0 ? { index } : undefined;
  }

  #ids(type: CallbackType): Fields {
    const { group_id, id, call_id } = this.call.caller.addressee;
    const field = CALLBACK_TRAITS[type].idField;
    if (field === null) return { group_id };
    if (field === 'tool_call_id') return { group_id, tool_call_id: id };
    field satisfies 'id';
    return call_id === undefined ? { group_id, id } : { group_id, id, call_id };
  }
}

/** RAP has no outcomes: they are sent as text (TOOL-ERRPREFIX). */
function fieldsOf(reply: ReplyContent): Fields {
  if (reply.kind === 'verbatim') return reply.result;
  return { text: reply.kind === 'payload' ? reply.text : (textOfOutcome(reply.outcome) ?? '') };
}

function typeNameOf(message: unknown): string | undefined {
  const type = valueAt(message, 'type');
  return typeof type === 'string' ? type : undefined;
}

/** Fields of a recorded question that the fixture format does not have. */
function furtherFields(recorded = '{}'): Fields {
  const json = parseJson(recorded);
  const { call_id: _, ...fields } = json.ok && isRecord(json.value) ? json.value : {};
  return fields;
}
