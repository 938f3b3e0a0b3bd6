import { randomBytes } from 'node:crypto';
import type { Answer, AnsweredCall, DialectName } from '../dialects/dialect.js';
import { readAs } from '../dialects/dialects.js';
import { EventRing } from '../events/bounded-events.js';
import { Content } from '../events/content.js';
import type { Event, Fact } from '../events/events.js';
import { createLog, type Listener, type Log } from '../events/log.js';
import { type RecordedRequest, recordRequest } from '../events/record-request.js';
import type { VerificationReport } from '../events/verification-report.js';
import { type Fixture, type FixtureSet, stepsOf } from '../fixtures/fixture-set.js';
import type { StepKind } from '../fixtures/reply-schema.js';
import { type Outcome, textOfOutcome } from '../protocol/outcome.js';
import { readInvocation } from '../protocol/read-invocation.js';
import { type Clock, systemClock } from '../system/clock.js';
import { firstFew } from '../util/text.js';
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
import { DEFAULTS } from './defaults.js';
import type { MockToolOptions } from './mock-state.js';
import { carryOut, malformedRefusal, OpenCalls, type Plan, plain, refusal } from './plan.js';
import { Repeats } from './repeats.js';
import { textOfPayload } from './reply-player.js';
import { NO_FIXTURES, Responder, requireValidToolset, type ToolsetFields } from './responder.js';
import { CANCELLED, ManualTriggers, Pauses, type Trigger } from './waits.js';

/** A call that is answered in this process. */
interface LocalCall {
  readonly operation: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The `id` for templates and handlers. Default: generated. */
  readonly id?: string;
  /** The thread that counts and states belong to. Default: one for all calls. */
  readonly groupId?: string;
  /** Names the call in every event. Default: made from thread and id. */
  readonly key?: string;
  /** For fixtures that match them; names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Aborted, the call is canceled: its answer is then `canceled`, unless it had one. */
  readonly signal?: AbortSignal;
}

/**
 * How a call was answered (seed 003). A `payload` has been through response middleware and is JSON; `text` is what it is wrapped
 * into: a string as it is, other JSON encoded. A `verbatim` result is what was written; no middleware has seen it.
 */
export type SpokenReply =
  | { readonly kind: 'payload'; readonly payload: unknown; readonly text: string }
  | { readonly kind: 'verbatim'; readonly result: Fields }
  | { readonly kind: 'outcome'; readonly outcome: Outcome };

/** `silence`: there is to be no answer. */
type LocalReply = SpokenReply | { readonly kind: 'silence' };

/** An answer as its wire has it. */
export interface Written {
  /** JSON. */
  readonly body: unknown;
  readonly warnings: readonly string[];
}

/** How calls of a local tool are logged, and how their answers are written. */
export interface Wire {
  readonly dialect?: Extract<Fact, { kind: 'request' }>['dialect'];
  readonly url: string;
  readonly callMethod: string;
  readonly cancelMethod: string;
  /** A canceled call gets no answer. */
  readonly dropsCancelled: boolean;
  /** @param isOffered whether the tool has the operation */
  write(reply: SpokenReply, isOffered: () => boolean): Written;
}

/** Without a wire: in the words of RAP. */
const NO_WIRE: Wire = {
  url: 'local:',
  callMethod: 'CALL',
  cancelMethod: 'CANCEL',
  dropsCancelled: false,
  write: reply => ({ body: { type: 'tool_result', ...rapFields(reply) }, warnings: [] }),
};

function rapFields(reply: SpokenReply): object {
  if (reply.kind === 'verbatim') return reply.result;
  return { text: reply.kind === 'payload' ? reply.text : (textOfOutcome(reply.outcome) ?? '') };
}

/** Fields that only a `tool_result` of RAP has. */
const RAP_FIELDS = ['type', 'text', 'display_as', 'subscription', 'group_id', 'id', 'call_id'];

/**
 * The wire that a verbatim result was written for. By its form: both have `content`, and no other field in common. Applies to
 * whole results only, never to a payload (seed 003).
 */
export function wireOfResult(result: Fields): Extract<DialectName, 'rap' | 'mcp'> {
  if (!Array.isArray(result['content']) || RAP_FIELDS.some(field => Object.hasOwn(result, field)))
    return 'rap';
  return readAs('mcp', result).ok || !readAsRap(result).ok ? 'mcp' : 'rap';
}

/** A result as `tool_result`, with the ids of its call filled in. */
export function readAsRap(result: Fields, { thread = '', id }: Partial<AnsweredCall> = {}) {
  return readAs('rap', { type: 'tool_result', group_id: thread, id: id ?? '', ...result });
}

/** How a call was answered in this process, in the one model's terms. @param call as its wire names it */
export function answerOfLocal(call: AnsweredCall, reply: SpokenReply): Answer {
  if (reply.kind === 'payload')
    return { call, outcome: { type: 'success', basis: 'declared' }, payload: reply.payload };
  if (reply.kind === 'outcome') return { call, outcome: { ...reply.outcome, basis: 'declared' } };
  const { result } = reply;
  const reading = wireOfResult(result) === 'mcp' ? readAs('mcp', result) : readAsRap(result, call);
  if (reading.ok) return { ...reading.answer, call };
  return { call, outcome: { type: 'success', basis: 'assumed' }, payload: result }; // so that nothing is lost
}

type Feature = 'faults' | 'events' | 'views' | 'choices' | 'consents';

const IGNORED: Readonly<Record<Feature, string>> = {
  faults: 'faults apply to RAP callbacks only and are ignored',
  events: 'events are not sent',
  views: 'views are not sent',
  choices: 'choices are not asked; the default is used',
  consents: 'consents are not asked; they count as refused',
};

const FEATURES_OF_STEPS: Readonly<Partial<Record<StepKind, Feature>>> = {
  event: 'events',
  view: 'views',
  choice: 'choices',
  oauth: 'consents',
};

/** Lists, in sentences, what fixtures contain that a local call ignores. */
export function leftOut({ fixtures }: Pick<FixtureSet, 'fixtures'>): string[] {
  return Object.entries(IGNORED).flatMap(([feature, sentence]) => {
    const ids = fixtures.filter(fixture => featuresOf(fixture).includes(feature)).map(({ id }) => id);
    return ids.length > 0 ? [`${sentence} (${firstFew(ids, 5)})`] : [];
  });
}

function featuresOf(fixture: Fixture): readonly string[] {
  const { ack, callback } = fixture.faults;
  const ofSteps = stepsOf(fixture).flatMap(({ kind }) => FEATURES_OF_STEPS[kind] ?? []);
  return ack || callback.length > 0 ? [...ofSteps, 'faults'] : ofSteps;
}

type Choose = (question: ChoiceQuestion) => Promise<number | null>;

/** Collects the answer of one call in this process; views and events are dropped. */
class LocalConversation extends Conversation {
  #settle: (reply: LocalReply) => void = () => {};
  /** Resolves with the first answer. */
  readonly answer = new Promise<LocalReply>(resolve => {
    this.#settle = resolve;
  });

  constructor(
    caller: Caller,
    services: CallServices,
    private readonly choose: Choose | undefined,
  ) {
    super(caller, services);
  }

  async payload(value: unknown): Promise<void> {
    const text = textOfPayload(value);
    this.#answerWith({
      kind: 'payload',
      text,
      payload: typeof value === 'string' ? value : JSON.parse(text),
    });
  }

  /** @throws TypeError if it is not a JSON object. */
  async result(fields: Fields): Promise<void> {
    const result: unknown = JSON.parse(JSON.stringify(fields));
    if (!isRecord(result)) throw new TypeError('a result is a JSON object');
    this.#answerWith({ kind: 'verbatim', result });
  }

  async outcome(outcome: Outcome): Promise<void> {
    this.#answerWith({ kind: 'outcome', outcome });
  }

  override silence(): void {
    super.silence();
    this.#answerWith({ kind: 'silence' });
  }

  async event(fields: Fields): Promise<void> {
    this.beginEvent(fields);
  }

  async view(): Promise<void> {}

  async choice(question: ChoiceQuestion, { withinMs }: Asking = {}): Promise<number | null> {
    const { prompt, choices, default: preset } = question;
    if (this.choose) {
      const picked = await this.answerWithin(this.choose(question), withinMs);
      if (picked !== null) this.decided('choice', 'person', picked);
      return picked;
    }
    this.warn(`no user can answer "${prompt}"; using the default, "${choices[preset] ?? preset}"`);
    this.decided('choice', 'policy', preset);
    return preset;
  }

  async consent({ operation }: ConsentQuestion): Promise<Consent> {
    this.warn(`no user can authorize ${operation}; treated as refused`);
    this.decided('consent', 'policy', 'refused');
    return 'refused';
  }

  /** The first answer counts; the rest of the reply is canceled. */
  #answerWith(reply: LocalReply): void {
    this.answered();
    this.#settle(reply);
    this.caller.cancellation.cancel('the call has its answer');
  }
}

/** The events of the wire, real or not. */
const WIRE_EVENTS: ReadonlySet<Fact['kind']> = new Set(['request', 'response', 'broken']);

/** Copies events about calls to another log, without those of the wire. */
function passOn(from: Log, to: Log): void {
  from.subscribe(({ seq: _seq, at: _at, ...fact }) => {
    if (!WIRE_EVENTS.has(fact.kind)) to.emit(fact);
  });
}

/** Fires every trigger at once. */
class ImmediateTriggers extends ManualTriggers {
  override wait(): Trigger {
    return { fired: Promise.resolve(true), leave: () => {} };
  }
}

/** Faults need a wire. */
function withoutFaults(set: FixtureSet): FixtureSet {
  return { ...set, fixtures: set.fixtures.map(fixture => ({ ...fixture, faults: { callback: [] } })) };
}

/** All options of a local tool; fixtures or handlers are required. */
export interface LocalToolOptions
  extends Pick<
    MockToolOptions,
    'fixtures' | 'handlers' | 'middleware' | 'seed' | 'rateLimit' | 'keep' | 'clock' | 'drainMs'
  > {
  /** Also receives what is decided about a call (matched, shaped, warned, …), but not its request and response. */
  readonly log?: Log;
  /** Answers choices: an index, or null. By default a choice is its default, with a warning. Consents are always refused. */
  readonly choose?: Choose;
  /** How calls come in and answers go out, if they do so over a wire. */
  readonly wire?: Wire;
}

/** In the place of an address to call back: the answer is returned. */
const NO_CALLBACK = 'local:';

/**
 * A tool that answers in this process: fixtures and handlers as a mock serves them, without the wire. Faults of acknowledgements
 * and callbacks are ignored; delays, sequences and states apply.
 */
export class LocalTool implements AsyncDisposable {
  /** Of all random draws. */
  readonly seed: string;
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #ring: EventRing;
  readonly #responder: Responder;
  readonly #services: CallServices;
  readonly #wire: Wire;
  readonly #openCalls = new OpenCalls();
  readonly #keys = new Repeats();
  #calls = 0;
  #closed: Promise<void> | undefined;

  private constructor(private readonly options: LocalToolOptions) {
    const { clock = systemClock, keep = DEFAULTS.keep, fixtures = NO_FIXTURES, wire = NO_WIRE } = options;
    this.seed = options.seed ?? randomBytes(4).toString('hex');
    this.#clock = clock;
    this.#wire = wire;
    this.#log = createLog(() => clock.now());
    this.#ring = new EventRing({ events: keep });
    this.#log.subscribe(event => this.#ring.push(event));
    if (options.log) passOn(this.#log, options.log);
    this.#responder = new Responder({ ...options, fixtures: withoutFaults(fixtures) }, this.seed, this.#log);
    this.#services = { log: this.#log, pauses: new Pauses(clock), triggers: new ImmediateTriggers() };
  }

  /** @throws ProtocolCliError `invalid-toolset`. */
  static async start(options: LocalToolOptions): Promise<LocalTool> {
    await requireValidToolset(options.fixtures, options.handlers);
    return new LocalTool(options);
  }

  get toolset(): ToolsetFields {
    return this.#responder.toolset;
  }

  /** The events that are remembered, oldest first. */
  get events(): readonly Event[] {
    return this.#ring.events;
  }

  /** As {@link events}, the very events. */
  get kept(): readonly Event[] {
    return this.#ring.kept;
  }

  /** How many events were forgotten. */
  get forgotten(): number {
    return this.#ring.forgotten;
  }

  /** Calls the listener for every event from now on. Returns how to stop. */
  subscribe(listener: Listener): () => void {
    return this.#log.subscribe(listener);
  }

  /**
   * Answers a call. Never rejects: whatever goes wrong is an outcome. `sent` is the answer as the wire has it; undefined for
   * `silence`, which resolves at once, and for a canceled call if the wire drops it.
   */
  async call(call: LocalCall): Promise<LocalReply & { readonly sent: unknown }> {
    const number = String(++this.#calls);
    const { operation, arguments: args, headers = {}, signal } = call;
    const ids = { group_id: call.groupId || 'local', id: call.id || `call-${number}` };
    const addressee = { callback_url: NO_CALLBACK, ...ids };
    const invocation = { operation, arguments: args, ...addressee };
    const key = call.key ?? this.#keys.arrive(ids.group_id, ids.id, number).key;
    const about = { calls: [key], thread: ids.group_id };
    const body = Content.ofJson(invocation);
    const request = this.#record('invocation', { ...about, headers, body });
    const overflow = this.#openCalls.problem(body.size);
    const cancellation = this.#openCalls.begin(key, ids.group_id, body.size);
    const stopListening = onAbort(signal, () => {
      this.#record('cancel', about);
      cancellation.cancel(CANCELLED);
    });
    const caller = { key, addressee, base: NO_CALLBACK, cancellation };
    const plan = overflow === null ? await this.#plan(invocation, caller, headers) : refusal(overflow);
    for (const fact of plan.facts) this.#log.emit(Object.assign(fact, about));
    const conversation = new LocalConversation(caller, this.#services, this.options.choose);
    void carryOut(plan, conversation, this.#openCalls);
    const reply = await conversation.answer;
    if (reply.kind !== 'silence') stopListening(); // a caller that gets no answer may still cancel
    return { ...reply, sent: this.#send(reply, operation, request, signal?.aborted ?? false, about) };
  }

  /** Answers by other fixtures from the next call on. @throws ProtocolCliError `invalid-toolset`. */
  async replaceFixtures(fixtures: FixtureSet): Promise<void> {
    await requireValidToolset(fixtures, this.options.handlers);
    this.#responder.replaceFixtures(withoutFaults(fixtures));
  }

  /** Warns of something that is about no call in particular. */
  warn(message: string): void {
    this.#log.emit({ kind: 'warned', message });
  }

  /** Forgets counts and states of one key, or everything, verification included. */
  reset(key?: string): void {
    this.#responder.reset(key);
    if (key === undefined) this.#ring.clear();
  }

  /** What was unused, unmatched or other than expected, so far. */
  verify(): VerificationReport {
    return this.#responder.verification.report();
  }

  /** Ends all waits; calls that are still open after `drainMs` are canceled. */
  close({ drainMs = this.options.drainMs ?? DEFAULTS.drainMs } = {}): Promise<void> {
    this.#closed ??= this.#drain(drainMs);
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #drain(ms: number): Promise<void> {
    this.#services.pauses.hurry();
    await new Promise<void>(resolve => {
      const cancel = this.#clock.after(ms, resolve);
      void this.#openCalls.idle().then(cancel).then(resolve);
    });
    this.#openCalls.stop();
  }

  async #plan(invocation: object, caller: Caller, headers: Readonly<Record<string, string>>): Promise<Plan> {
    const reading = readInvocation({ ok: true, value: invocation, notes: [] });
    if (!reading.ok) return malformedRefusal('call', reading.faults);
    try {
      return await this.#responder.plan({ caller, invocation: reading.invocation, headers });
    } catch (error) {
      return plain([], () => Promise.reject(error)); // reported as any other failure of its work
    }
  }

  #record(
    purpose: 'invocation' | 'cancel',
    more: Pick<Parameters<typeof recordRequest>[1], 'calls' | 'thread' | 'body'> & {
      readonly headers?: Readonly<Record<string, string>>;
    },
  ): RecordedRequest {
    const { dialect, url, callMethod, cancelMethod } = this.#wire;
    const method = purpose === 'cancel' ? cancelMethod : callMethod;
    const { headers = {}, ...about } = more;
    const way = { from: 'client', to: 'tool', purpose, method, url, headers: { ...headers } } as const;
    return recordRequest(this.#log, { ...way, ...(dialect && { dialect }), ...about });
  }

  /** Writes the answer for the wire; undefined if none goes out. */
  #send(
    reply: LocalReply,
    operation: string,
    request: RecordedRequest,
    isCancelled: boolean,
    about: { readonly calls: string[]; readonly thread: string },
  ): unknown {
    if (reply.kind === 'silence' || (isCancelled && this.#wire.dropsCancelled)) {
      request.broken('answer', reply.kind === 'silence' ? 'PLANNED' : 'CANCELLED');
      return undefined;
    }
    const isOffered = () => this.toolset.tools.some(({ name }) => name === operation);
    const { body, warnings } = this.#wire.write(reply, isOffered);
    for (const message of warnings) this.#log.emit({ kind: 'warned', message, ...about });
    request.answered(200, { body: Content.ofJson(body) });
    return body;
  }
}

/** Calls back when the signal is aborted, at once if it is already. Returns how to stop listening. */
function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (signal?.aborted) callback();
  signal?.addEventListener('abort', callback, { once: true });
  return () => signal?.removeEventListener('abort', callback);
}

/** See {@link LocalTool.start}. */
export const startLocalTool = LocalTool.start;
