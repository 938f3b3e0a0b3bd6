import { Content } from '../events/content.js';
import type { Fact } from '../events/events.js';
import { type Log, RecordedRequest, type RequestFact } from '../events/log.js';
import type { Fixture, FixtureSet } from '../fixtures/fixture-set.js';
import type { Step, StepKind } from '../fixtures/reply-schema.js';
import { stepsOf } from '../fixtures/reply-schema.js';
import { readInvocation } from '../protocol/invocation.js';
import { joinFirst } from '../util/text.js';
import { isRecord } from '../util/values.js';
import { CANCELED_FORM, ClientMessages, type LocalClient, notificationIn } from './client-messages.js';
import {
  type ChoiceOptions,
  type ChoiceQuestion,
  type Consent,
  type ConsentQuestion,
  Conversation,
  type FormQuestion,
  type FormReply,
  type QuestionOptions,
  type ReplyContent,
  type Wire,
} from './conversation.js';
import { type OfferedTool, writeForMcp } from './mcp-answer.js';
import { type CloseOptions, Mock, type MockOptions } from './mock.js';
import { CANCELED, type CallReference, OpenCall } from './open-call.js';
import { malformedRefusal, type Plan, planWithoutFaults, refusalPlan } from './plan.js';
import { NO_FIXTURES, prepareToolset } from './responder.js';

export interface LocalCall {
  readonly operation: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The `id` for templates and handlers. Default: generated. */
  readonly id?: string;
  /** The thread for counts and states. Default: one for all calls. */
  readonly groupId?: string;
  /** The call key in every event. Default: numbered. */
  readonly key?: string;
  /** Headers for fixtures that match them; names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** What an MCP client knows of the tool; null if it calls an unknown one. Default: the tool without an `outputSchema`. */
  readonly offered?: OfferedTool | null;
  /** Cancels the call; the answer is then `canceled`, unless there was one before. */
  readonly signal?: AbortSignal;
  /** How the call reaches its MCP client. By default nothing is sent before the answer. */
  readonly client?: LocalClient;
}

export type LocalReply = ReplyContent | { readonly kind: 'silence' };

/** `sent` is the answer in the form of MCP; undefined for `silence` and for a canceled call. */
export type LocalAnswer = LocalReply & { readonly sent: unknown };

/** What becomes of the steps that a local call does not play; null for those that it plays. */
const IGNORED_STEPS = {
  payload: null,
  result: null,
  error: null,
  canceled: null,
  timeout: null,
  denied: null,
  silence: null,
  event: 'events are not sent',
  view: 'views are not sent',
  message: 'messages are not sent, except notifications: { method, params }',
  choice: 'choices are asked as forms; a client without forms gets the default',
  oauth: 'consents are not asked; they count as refused',
  form: null,
} as const satisfies Record<StepKind, string | null>;

/** Describes the fixture features that a local call ignores. */
export function leftOut({ fixtures, faults, document }: FixtureSet): string[] {
  const requests = Object.keys(faults);
  const idsOf = (isAffected: (fixture: Fixture) => boolean) =>
    joinFirst(
      fixtures.filter(isAffected).map(({ id }) => id),
      5,
    );
  const faulty = idsOf(({ faults: { ack, callback } }) => ack !== undefined || callback.length > 0);
  const ignoredSteps = Object.entries(IGNORED_STEPS).flatMap(([kind, sentence]) => {
    const ids = idsOf(fixture => stepsOf(fixture).some(step => step.kind === kind && !isNotification(step)));
    return sentence === null || ids === '' ? [] : [`${sentence} (${ids})`];
  });
  return [
    ...(requests.length > 0 ? [`faults apply to RAP only and are ignored (${requests.join(', ')})`] : []),
    ...(document === undefined ? [] : ['the document is served over RAP only and is ignored']),
    ...(faulty === '' ? [] : [`faults apply to RAP only and are ignored (${faulty})`]),
    ...ignoredSteps,
  ];
}

function isNotification(step: Step): boolean {
  return step.kind === 'message' && notificationIn(step.message) !== null;
}

export type Choose = (question: ChoiceQuestion) => Promise<number | null>;

/** Passes the answer of one call to its caller in this process; drops views and events. */
class LocalWire implements Wire {
  readonly sendsEvents = false;
  readonly outlivesCancel = false;
  #settle: (reply: LocalReply) => void = () => {};
  readonly reply = new Promise<LocalReply>(resolve => {
    this.#settle = resolve;
  });

  constructor(
    private readonly call: OpenCall,
    private readonly choose: Choose | undefined,
    private readonly client: ClientMessages | null,
  ) {}

  /** @throws TypeError if a verbatim result is not a JSON object. */
  answer(reply: ReplyContent): Promise<void> {
    this.#end(asJson(reply));
    return Promise.resolve();
  }

  silence(): void {
    this.#end({ kind: 'silence' });
  }

  async event(): Promise<void> {}

  async view(): Promise<void> {}

  async message(value: unknown): Promise<void> {
    await this.client?.notify(value);
  }

  async choice(question: ChoiceQuestion, { withinMs }: ChoiceOptions = {}): Promise<number | null> {
    const { prompt, choices, default: preset } = question;
    const { call, client } = this;
    if (this.choose) {
      const picked = await call.answerWithin(this.choose(question), withinMs);
      if (picked !== null) call.logDecision('choice', 'person', picked);
      return picked;
    }
    if (client?.hasForms) {
      const answer = await client.ask(formOfChoice(question), withinMs);
      if (answer === null) return null;
      const index = choices.indexOf(String(answer.content[CHOICE]));
      const picked = index < 0 ? preset : index; // of a dismissed form, as in RAP
      call.logDecision('choice', 'person', picked);
      return picked;
    }
    call.warn(`no user can answer "${prompt}"; using the default, "${choices[preset] ?? preset}"`);
    call.logDecision('choice', 'policy', preset);
    return preset;
  }

  async form(question: FormQuestion, { withinMs }: QuestionOptions = {}): Promise<FormReply | null> {
    if (this.client) return this.client.ask(question, withinMs);
    this.call.warn(`no user can fill in the form "${question.message}"; it counts as canceled`);
    return CANCELED_FORM;
  }

  async consent({ operation }: ConsentQuestion): Promise<Consent> {
    this.call.warn(`no user can authorize ${operation}; treated as refused`);
    this.call.logDecision('consent', 'policy', 'refused');
    return 'refused';
  }

  /** Settles with the first answer; cancels the rest of the reply. */
  #end(reply: LocalReply): void {
    this.#settle(reply);
    this.call.cancel('the call has its answer');
  }
}

/** The only field of the form for a choice. */
const CHOICE = 'choice';

function formOfChoice({ prompt, choices, default: preset }: ChoiceQuestion): FormQuestion {
  const field = { type: 'string', enum: choices, default: choices[preset] };
  return {
    message: prompt,
    requestedSchema: { type: 'object', properties: { [CHOICE]: field }, required: [CHOICE] },
  };
}

/** A handler may return values that JSON does not have, such as dates. */
function asJson(reply: ReplyContent): ReplyContent {
  if (reply.kind === 'outcome' || (reply.kind === 'payload' && reply.payload === reply.text)) return reply;
  if (reply.kind === 'payload') return { ...reply, payload: JSON.parse(reply.text) };
  const result: unknown = JSON.parse(JSON.stringify(reply.result));
  if (!isRecord(result)) throw new TypeError('a result is a JSON object');
  return { kind: 'verbatim', result };
}

/** Events of a wire, which are not passed to the caller's log. */
const WIRE_EVENTS: ReadonlySet<Fact['kind']> = new Set(['request', 'response', 'broken']);

function withoutFaults(set: FixtureSet): FixtureSet {
  return {
    ...set,
    document: undefined,
    fixtures: set.fixtures.map(fixture => ({ ...fixture, faults: { callback: [] } })),
  };
}

/** All options of a local tool; fixtures or handlers are required. */
export interface LocalToolOptions extends MockOptions {
  /** Also receives the decisions about a call (matched, shaped, warned, …), but not its request and response. */
  readonly log?: Log;
  /** Answers choices with an index or null. By default the default choice is used, with a warning. Consents are always refused. */
  readonly choose?: Choose;
  /** The URL of the MCP endpoint, for events; without it the answers are not written for MCP. */
  readonly mcpUrl?: string;
}

/** Stands in for a URL: the answer is returned. */
const LOCAL = 'local:';

/**
 * A tool that answers in this process, from the same fixtures and handlers as a mock. Faults of acknowledgements and callbacks are
 * ignored; delays, sequences and states apply.
 */
export class LocalTool implements AsyncDisposable {
  #calls = 0;
  #closed: Promise<void> | undefined;

  private constructor(
    readonly mock: Mock,
    private readonly choose: Choose | undefined,
    private readonly mcpUrl: string | undefined,
  ) {}

  /** @throws ProtocolCliError `invalid-toolset`. */
  static async start(options: LocalToolOptions): Promise<LocalTool> {
    const { fixtures = NO_FIXTURES, handlers, log, choose, mcpUrl } = options;
    const checkers = await prepareToolset(fixtures, handlers);
    const mock = new Mock({ ...options, fixtures: withoutFaults(fixtures) }, checkers);
    if (log)
      mock.subscribe(({ seq: _seq, at: _at, ...fact }) => {
        if (!WIRE_EVENTS.has(fact.kind)) log.emit(fact);
      });
    return new LocalTool(mock, choose, mcpUrl);
  }

  /** Answers a call; `silence` resolves at once. Never rejects: every failure is an outcome. */
  async call(call: LocalCall): Promise<LocalAnswer> {
    const number = String(++this.#calls);
    const { log, pauses, openCalls } = this.mock;
    const { operation, arguments: args, headers = {}, signal } = call;
    const ids = { group_id: call.groupId || 'local', id: call.id || `call-${number}` };
    const addressee = { callback_url: LOCAL, ...ids };
    const key = call.key ?? `call-${number}`;
    const openCall = new OpenCall({ key, addressee, base: LOCAL }, log, pauses);
    const { about } = openCall;
    const invocation = { operation, arguments: args, ...addressee };
    const body = Content.ofJson(invocation);
    const request = this.#record('invocation', { ...about, headers, body });
    const overflow = openCalls.admit(openCall, body.bytes);
    const stopListening = onAbort(signal, () => {
      this.#record('cancel', about);
      openCall.cancel(CANCELED);
    });
    const plan = overflow === null ? this.#plan(invocation, headers) : refusalPlan(overflow);
    for (const fact of plan.facts) log.emit(Object.assign(fact, about));
    const client = call.client && new ClientMessages(openCall, call.client, this.mcpUrl ?? LOCAL);
    const wire = new LocalWire(openCall, this.choose, client ?? null);
    void openCalls.carryOut(plan, new Conversation(openCall, wire));
    const reply = await wire.reply;
    if (reply.kind !== 'silence') stopListening(); // a silent call can still be canceled
    const { offered = { outputSchema: undefined } } = call;
    return { ...reply, sent: await this.#send(reply, offered, request, signal?.aborted ?? false, about) };
  }

  /** Replaces the fixtures from the next call on. @throws ProtocolCliError `invalid-toolset`. */
  replaceFixtures(fixtures: FixtureSet): Promise<void> {
    return this.mock.responder.replaceFixtures(withoutFaults(fixtures));
  }

  /** Waits up to `drainMs` for open calls, then cancels them. */
  close({ drainMs = this.mock.drainMs }: CloseOptions = {}): Promise<void> {
    this.#closed ??= this.#end(drainMs);
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #end(drainMs: number): Promise<void> {
    await this.mock.drain(drainMs);
    this.mock.openCalls.stop();
  }

  #plan(invocation: object, headers: Readonly<Record<string, string>>): Plan {
    const reading = readInvocation({ ok: true, value: invocation, notes: [] });
    if (!reading.ok) return malformedRefusal('call', reading.faults);
    try {
      return this.mock.responder.plan({ invocation: reading.invocation, headers });
    } catch (error) {
      return planWithoutFaults([], () => Promise.reject(error)); // reported like any other failure of its work
    }
  }

  #record(
    purpose: 'invocation' | 'cancel',
    { headers = {}, ...about }: Partial<Pick<RequestFact, 'calls' | 'thread' | 'body' | 'headers'>>,
  ): RecordedRequest {
    return new RecordedRequest(this.mock.log, {
      from: 'client',
      to: 'tool',
      purpose,
      dialect: 'mcp',
      method: purpose === 'cancel' ? 'notifications/cancelled' : 'tools/call',
      url: this.mcpUrl ?? LOCAL,
      headers: { ...headers },
      ...about,
    });
  }

  /** Returns the answer for an MCP client; undefined if none is sent. */
  async #send(
    reply: LocalReply,
    offered: OfferedTool | null,
    request: RecordedRequest,
    isCancelled: boolean,
    about: CallReference,
  ): Promise<unknown> {
    if (reply.kind === 'silence' || isCancelled) {
      request.recordBroken('answer', reply.kind === 'silence' ? 'PLANNED' : 'CANCELLED');
      return undefined;
    }
    if (this.mcpUrl === undefined) return void request.recordResponse(200);
    const { body, warnings } = await writeForMcp(reply, offered);
    for (const message of warnings) this.mock.log.emit({ kind: 'warned', message, ...about });
    request.recordResponse(200, { body: Content.ofJson(body) });
    return body;
  }
}

/** Calls back when the signal is aborted, or now if it already is. Returns a function that stops listening. */
function onAbort(signal: AbortSignal | undefined, callback: () => void): () => void {
  if (signal?.aborted) callback();
  signal?.addEventListener('abort', callback, { once: true });
  return () => signal?.removeEventListener('abort', callback);
}

/** See {@link LocalTool.start}. */
export const startLocalTool = LocalTool.start;
