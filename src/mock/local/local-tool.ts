import { randomBytes } from 'node:crypto';
import { EventRing } from '../../events/bounded-events.js';
import { Content } from '../../events/content.js';
import type { Event, Fact } from '../../events/events.js';
import { createLog, type Listener, type Log } from '../../events/log.js';
import { type RecordedRequest, recordRequest } from '../../events/record-request.js';
import type { VerificationReport } from '../../events/verification-report.js';
import type { FixtureSet } from '../../fixtures/fixture-set.js';
import type { Outcome } from '../../protocol/outcome.js';
import { type InvocationReading, readInvocation } from '../../protocol/read-invocation.js';
import { type Clock, systemClock } from '../../system/drafts.js';
import { isRecord } from '../../util/json-diagnosis.js';
import { type Plan, plain, refusal } from '../answer-calls.js';
import {
  type ChoiceQuestion,
  type Consent,
  type ConsentQuestion,
  Conversation,
  type Fields,
} from '../conversation.js';
import { DEFAULTS } from '../defaults.js';
import { carryOut, OpenCalls } from '../intake.js';
import { type MockToolOptions, NO_FIXTURES, Responder } from '../mock-state.js';
import { Repeats } from '../repeated-invocations.js';
import { textOfPayload } from '../reply-steps.js';
import {
  CANCELLED,
  type Caller,
  type CallServices,
  ManualTriggers,
  Pauses,
  type Trigger,
} from '../reply-waits.js';
import { type Answers, requireValidToolset, type ToolsetFields, toolsetOf } from '../toolset.js';
import {
  type Asked,
  type LocalAnswer,
  type LocalCall,
  type LocalMessage,
  type LocalReply,
  NO_WIRE,
  type SentAnswer,
  type Wire,
} from './local-call.js';

/** Why nothing is done any more for a call that has its answer. */
const OVER = 'the call has its answer';

/** Collects the messages and the answer of one call in this process. */
class LocalConversation extends Conversation {
  readonly #said: LocalMessage[] = [];
  #settle: (answer: LocalAnswer) => void = () => {};
  /** Resolves with the first answer; where there is to be none, it says so. */
  readonly answer = new Promise<LocalAnswer>(resolve => {
    this.#settle = resolve;
  });

  /** @param asked answers questions; by default a choice is its default and a consent is refused. */
  constructor(
    caller: Caller,
    private readonly services: CallServices,
    private readonly asked: Partial<Asked>,
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
    const { group_id, id } = this.caller.addressee;
    this.begins(fields);
    this.#said.push({ type: 'subscription_event', group_id, tool_call_id: id, ...fields });
  }

  async view(fields: Fields): Promise<void> {
    this.#said.push({ type: 'view_update', group_id: this.caller.addressee.group_id, ...fields });
  }

  async choice(question: ChoiceQuestion, withinMs?: number): Promise<number | null> {
    const { prompt, choices, default: preset } = question;
    if (this.asked.choice) return this.#ask('choice', this.asked.choice(question), withinMs);
    this.warn(`no user can answer "${prompt}"; using the default, "${choices[preset] ?? preset}"`);
    return this.#decided('choice', 'policy', preset);
  }

  async consent(question: ConsentQuestion, withinMs?: number): Promise<Consent | null> {
    if (this.asked.consent) return this.#ask('consent', this.asked.consent(question), withinMs);
    this.warn(`no user can authorize ${question.operation}; treated as refused`);
    return this.#decided('consent', 'policy', 'refused');
  }

  async #ask<A extends string | number>(
    what: 'choice' | 'consent',
    answering: Promise<A | null>,
    withinMs: number | undefined,
  ): Promise<A | null> {
    const { pauses, log } = this.services;
    const since = pauses.now();
    const answer = await pauses.within(answering, withinMs, this.caller.cancellation);
    if (answer !== null) return this.#decided(what, 'person', answer);
    if (!this.isCancelled)
      log.emit({
        kind: 'expired',
        what: 'answer',
        afterMs: Math.round(pauses.now() - since),
        ...this.about(),
      });
    return null;
  }

  #decided<A extends string | number>(what: 'choice' | 'consent', by: 'person' | 'policy', value: A): A {
    this.services.log.emit({ kind: 'decided', what, by, value, ...this.about() });
    return value;
  }

  /** The first answer counts; the rest of the reply is cancelled. */
  #answerWith(reply: LocalReply): void {
    this.answered();
    this.#settle({ ...reply, said: [...this.#said] });
    this.caller.cancellation.cancel(OVER);
  }
}

/** What the events of a call contain. */
interface Told {
  readonly key: string;
  readonly thread: string;
  /** Whether there is such an operation at all. */
  readonly isOffered: () => boolean;
  readonly headers: Readonly<Record<string, string>>;
  /** What the tool understood: its operation, arguments and ids. */
  readonly body: Content;
}

/** One call as those hear of it who look on: that it came, that it was called off, how it ended. */
class ToldCall {
  readonly #invocation: RecordedRequest;
  #isCancelled = false;

  constructor(
    private readonly log: Log,
    private readonly wire: Wire,
    private readonly told: Told,
  ) {
    const { headers, body } = told;
    this.#invocation = this.#request('invocation', wire.callMethod, { body, headers: { ...headers } });
  }

  cancelled(): void {
    this.#isCancelled = true;
    this.#request('cancel', this.wire.cancelMethod, { headers: {} });
  }

  /** @returns the answer as its wire has it, JSON; undefined where none goes out. */
  ended(reply: LocalReply): unknown {
    if (reply.kind === 'silence' || (this.#isCancelled && this.wire.dropsCancelled)) {
      const code = reply.kind === 'silence' ? 'PLANNED' : 'CANCELLED';
      this.#invocation.broken('answer', code);
      return undefined;
    }
    const { body, warnings } = this.wire.write(reply, this.told.isOffered);
    for (const message of warnings) this.log.emit({ kind: 'warned', message, ...this.#about() });
    this.#invocation.answered(200, { body: Content.ofJson(body) });
    return body;
  }

  #request(
    purpose: 'invocation' | 'cancel',
    method: string,
    more: { readonly headers: Record<string, string>; readonly body?: Content },
  ): RecordedRequest {
    const { dialect, url } = this.wire;
    const about = { from: 'client', to: 'tool', purpose, method, url, dialect, ...more } as const;
    return recordRequest(this.log, { ...about, ...this.#about() });
  }

  #about() {
    return { calls: [this.told.key], thread: this.told.thread };
  }
}

interface LocalCallsParts {
  readonly services: CallServices;
  readonly ask: Partial<Asked>;
  readonly wire: Wire;
  /** Whether there is such an operation at all. */
  readonly offers: (operation: string) => boolean;
  /** A function, since fixtures may be replaced. */
  readonly answers: () => Answers;
}

/** In the place of an address to call back: the answer is returned. */
const NO_CALLBACK = 'local:';
const ONE_THREAD = 'local';

/** Takes calls of this process, and answers each once. */
class LocalCalls {
  readonly #openCalls = new OpenCalls();
  readonly #names = new Repeats();
  #count = 0;

  constructor(private readonly parts: LocalCallsParts) {}

  /** Never rejects. */
  async answer(call: LocalCall): Promise<SentAnswer> {
    const { services, ask, wire, offers } = this.parts;
    const { addressee, key, written } = this.#named(call);
    const { group_id: thread } = addressee;
    const body = Content.ofJson(written);
    const isOffered = () => offers(call.operation);
    const told = new ToldCall(services.log, wire, {
      key,
      thread,
      isOffered,
      headers: call.headers ?? {},
      body,
    });
    const overflow = this.#openCalls.problem(body.size);
    const cancellation = this.#openCalls.begin(key, thread, body.size);
    const stopListening = heed(call.signal, () => {
      told.cancelled();
      cancellation.cancel(CANCELLED);
    });
    const caller = { key, addressee, base: NO_CALLBACK, cancellation };
    const reading = readInvocation({ ok: true, value: written, notes: [] });
    const plan = overflow === null ? await this.#plan(reading, caller, call) : refusal(overflow);
    for (const fact of plan.facts) services.log.emit(Object.assign(fact, { calls: [key], thread }));
    const conversation = new LocalConversation(caller, services, ask);
    void carryOut(plan, conversation, this.#openCalls);
    const answer = await conversation.answer;
    if (answer.kind !== 'silence') stopListening(); // a caller that gets no answer may still cancel
    return { ...answer, sent: told.ended(answer) };
  }

  /** Everything is due at once. Resolves when nothing is worked on; what still is after `ms` is called off. */
  async drain(ms: number, clock: Clock): Promise<void> {
    this.parts.services.pauses.hurry();
    await new Promise<void>(resolve => {
      const cancel = clock.after(ms, resolve);
      void this.#openCalls.idle().then(cancel).then(resolve);
    });
    this.#openCalls.stop();
  }

  #named({ operation, arguments: args, id, groupId, key }: LocalCall) {
    const number = String(++this.#count);
    const addressee = {
      callback_url: NO_CALLBACK,
      group_id: groupId || ONE_THREAD,
      id: id || `call-${number}`,
    };
    const written = { operation, arguments: args, ...addressee };
    const made = this.#names.arrive(addressee.group_id, addressee.id, number).key; // each call is one of its own
    return { addressee, written, key: key ?? made };
  }

  async #plan(reading: InvocationReading, caller: Caller, { headers = {} }: LocalCall): Promise<Plan> {
    if (!reading.ok)
      return refusal(`the call is malformed: ${reading.faults.join('; ')}. Correct it and call again.`);
    try {
      return await this.parts.answers().plan({ caller, invocation: reading.invocation, headers }, 1);
    } catch (error) {
      return plain([], () => Promise.reject(error)); // said as any other failure of its work is
    }
  }
}

/** Returns how to heed the signal no longer. */
function heed(signal: AbortSignal | undefined, cancel: () => void): () => void {
  if (signal?.aborted) cancel();
  signal?.addEventListener('abort', cancel, { once: true });
  return () => signal?.removeEventListener('abort', cancel);
}

const WIRE: ReadonlySet<Fact['kind']> = new Set(['request', 'response', 'broken']);

/** Tells in another log what is decided about calls; not what came over the wire, or would have. */
function passOn(from: Log, to: Log): void {
  from.subscribe(({ seq: _seq, at: _at, ...fact }) => {
    if (!WIRE.has(fact.kind)) to.emit(fact);
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
  /** Answers questions; by default a choice is its default and a consent is refused, each with a warning. */
  readonly ask?: Partial<Asked>;
  /** How calls come in and answers go out, where they do so over a wire after all. */
  readonly wire?: Wire;
}

/**
 * A tool that answers in this process: fixtures and handlers as a mock serves them, without the wire. Faults of acknowledgements
 * and callbacks are ignored; delays, sequences and states apply.
 */
export class LocalTool implements AsyncDisposable {
  #closed: Promise<void> | undefined;

  private constructor(
    private readonly options: LocalToolOptions,
    private readonly log: Log,
    /** All that is drawn comes from it. */
    readonly seed: string,
    private readonly responder: Responder,
    private readonly calls: LocalCalls,
    private readonly ring: EventRing,
  ) {}

  /** @throws ProtocolCliError `invalid-toolset`. */
  static async start(options: LocalToolOptions): Promise<LocalTool> {
    const { handlers = [], clock = systemClock, keep = DEFAULTS.keep, ask = {}, wire = NO_WIRE } = options;
    const fixtures = withoutFaults(options.fixtures ?? NO_FIXTURES);
    await requireValidToolset(toolsetOf(fixtures, handlers));
    const log = createLog(() => clock.now());
    const seed = options.seed ?? randomBytes(4).toString('hex');
    const ring = new EventRing({ events: keep });
    log.subscribe(event => ring.push(event));
    if (options.log) passOn(log, options.log);
    const responder = new Responder({ ...options, fixtures }, seed, log);
    const services = { log, pauses: new Pauses(clock), triggers: new ImmediateTriggers() };
    const offers = (operation: string) => responder.toolset.tools.some(({ name }) => name === operation);
    const calls = new LocalCalls({ services, ask, wire, offers, answers: () => responder.answers });
    return new LocalTool(options, log, seed, responder, calls, ring);
  }

  /** What it offers at the moment. */
  get toolset(): ToolsetFields {
    return this.responder.toolset;
  }

  /** The events that are remembered, oldest first. */
  get events(): readonly Event[] {
    return this.ring.events;
  }

  /** As {@link events}, the very events. */
  get kept(): readonly Event[] {
    return this.ring.kept;
  }

  /** How many events were forgotten. */
  get forgotten(): number {
    return this.ring.forgotten;
  }

  /** Calls the listener for every event from now on. Returns how to stop. */
  subscribe(listener: Listener): () => void {
    return this.log.subscribe(listener);
  }

  /** Never rejects: whatever goes wrong is an outcome. One that is `silence` resolves at once: it is the caller's to keep still. */
  call(call: LocalCall): Promise<SentAnswer> {
    return this.calls.answer(call);
  }

  /** Answers by other fixtures from the next call on. @throws ProtocolCliError `invalid-toolset`. */
  async replaceFixtures(fixtures: FixtureSet): Promise<void> {
    await requireValidToolset(toolsetOf(fixtures, this.options.handlers ?? []));
    this.responder.replaceFixtures(withoutFaults(fixtures));
  }

  /** What a person should know, of no call in particular. */
  warn(message: string): void {
    this.log.emit({ kind: 'warned', message });
  }

  /** Begins anew: counts and states of one key, or everything there is, verification included. */
  reset(key?: string): void {
    this.responder.reset(key);
    if (key === undefined) this.ring.clear();
  }

  /** What was unused, unmatched or other than expected, so far. */
  verify(): VerificationReport {
    return this.responder.verification.report();
  }

  /** Nothing is waited for any more; what is still worked on after `drainMs` is called off. */
  close({ drainMs = this.options.drainMs ?? DEFAULTS.drainMs } = {}): Promise<void> {
    this.#closed ??= this.calls.drain(drainMs, this.options.clock ?? systemClock);
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** See {@link LocalTool.start}. */
export const startLocalTool = LocalTool.start;
