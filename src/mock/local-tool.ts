import type { Answer, AnsweredCall, DialectName } from '../dialects/dialect.js';
import { readAs, writeAs } from '../dialects/dialects.js';
import { Content } from '../events/content.js';
import type { Fact } from '../events/events.js';
import { type Log, type RecordedRequest, recordRequest } from '../events/log.js';
import { type Fixture, type FixtureSet, stepsOf } from '../fixtures/fixture-set.js';
import type { StepKind } from '../fixtures/reply-schema.js';
import type { Route } from '../http/route.js';
import type { RunningServer } from '../http/server.js';
import { readInvocation } from '../protocol/invocation.js';
import { type Outcome, textOfOutcome } from '../protocol/outcome.js';
import { firstFew } from '../util/text.js';
import { isRecord } from '../util/values.js';
import {
  type Asking,
  CANCELED,
  type Caller,
  type CallServices,
  type ChoiceQuestion,
  type Consent,
  type ConsentQuestion,
  Conversation,
  type Fields,
} from './conversation.js';
import { malformedRefusal, type Plan, plain, refusal } from './plan.js';
import { textOfPayload } from './reply-player.js';
import { NO_FIXTURES, requireValidToolset } from './responder.js';
import { type ServerOptions, Tool, type ToolOptions } from './tool.js';

interface LocalCall {
  readonly operation: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The `id` for templates and handlers. Default: generated. */
  readonly id?: string;
  /** The thread for counts and states. Default: one for all calls. */
  readonly groupId?: string;
  /** The call key in every event. Default: made from thread and id. */
  readonly key?: string;
  /** Headers for fixtures that match them; names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Cancels the call; the answer is then `canceled`, unless there was one before. */
  readonly signal?: AbortSignal;
}

/**
 * An answer (seed 003). A `payload` has passed response middleware and is JSON; `text` is its wrapped form: a string unchanged, other
 * JSON encoded. A `verbatim` result is as written, without middleware.
 */
export type SpokenReply =
  | { readonly kind: 'payload'; readonly payload: unknown; readonly text: string }
  | { readonly kind: 'verbatim'; readonly result: Fields }
  | { readonly kind: 'outcome'; readonly outcome: Outcome };

/** `silence`: no answer on purpose. */
type LocalReply = SpokenReply | { readonly kind: 'silence' };

/** An answer in the form of its wire. */
interface Written {
  /** JSON. */
  readonly body: unknown;
  readonly warnings: readonly string[];
}

/** How calls of a local tool are logged and their answers written. */
interface Wire {
  readonly dialect?: Extract<Fact, { kind: 'request' }>['dialect'];
  readonly url: string;
  readonly callMethod: string;
  readonly cancelMethod: string;
  /** Whether a canceled call gets no answer. */
  readonly dropsCancelled: boolean;
  /** @param isOffered whether the tool has the operation */
  write(reply: SpokenReply, isOffered: () => boolean): Written;
}

/** The default without a wire: the form of RAP. */
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

/** Fields that exist only in a `tool_result` of RAP. */
const RAP_FIELDS = ['type', 'text', 'display_as', 'subscription', 'group_id', 'id', 'call_id'];

/**
 * Detects the wire of a verbatim result by its form: both wires have `content`, and no other field in common. Applies to whole results
 * only, never to a payload (seed 003).
 */
export function wireOfResult(result: Fields): Extract<DialectName, 'rap' | 'mcp'> {
  if (!Array.isArray(result['content']) || RAP_FIELDS.some(field => Object.hasOwn(result, field)))
    return 'rap';
  return readAs('mcp', result).ok || !readAsRap(result).ok ? 'mcp' : 'rap';
}

/** A result as `tool_result`, with the ids of its call filled in. */
function readAsRap(result: Fields, { thread = '', id }: Partial<AnsweredCall> = {}) {
  return readAs('rap', { type: 'tool_result', group_id: thread, id: id ?? '', ...result });
}

/** Converts the answer of a local call to the common model. @param call as its wire names it */
export function answerOfLocal(call: AnsweredCall, reply: SpokenReply): Answer {
  if (reply.kind === 'payload')
    return { call, outcome: { type: 'success', basis: 'declared' }, payload: reply.payload };
  if (reply.kind === 'outcome') return { call, outcome: { ...reply.outcome, basis: 'declared' } };
  const { result } = reply;
  const reading = wireOfResult(result) === 'mcp' ? readAs('mcp', result) : readAsRap(result, call);
  if (reading.ok) return { ...reading.answer, call };
  return { call, outcome: { type: 'success', basis: 'assumed' }, payload: result }; // keeps all of the result
}

type Feature = 'faults' | 'events' | 'views' | 'messages' | 'choices' | 'consents';

const IGNORED: Readonly<Record<Feature, string>> = {
  faults: 'faults apply to RAP only and are ignored',
  events: 'events are not sent',
  views: 'views are not sent',
  messages: 'messages are not sent',
  choices: 'choices are not asked; the default is used',
  consents: 'consents are not asked; they count as refused',
};

const FEATURES_OF_STEPS: Readonly<Partial<Record<StepKind, Feature>>> = {
  event: 'events',
  view: 'views',
  message: 'messages',
  choice: 'choices',
  oauth: 'consents',
};

/** Describes the fixture features that a local call ignores. */
export function leftOut({
  fixtures,
  faults,
  document,
}: Omit<FixtureSet, 'toolset' | 'middleware'>): string[] {
  const requests = Object.keys(faults);
  const ofRequests = requests.length > 0 ? [`${IGNORED.faults} (${requests.join(', ')})`] : [];
  const ofDocument = document === undefined ? [] : ['the document is served over RAP only and is ignored'];
  return [...ofRequests, ...ofDocument, ...leftOutOf(fixtures)];
}

function leftOutOf(fixtures: readonly Fixture[]): string[] {
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

/** Collects the answer of one local call; drops views, events and other messages. */
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

  override async triggered(): Promise<boolean> {
    return true;
  }

  async view(): Promise<void> {}

  async message(): Promise<void> {}

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

  /** Settles with the first answer; cancels the rest of the reply. */
  #answerWith(reply: LocalReply): void {
    this.answered();
    this.#settle(reply);
    this.cancel('the call has its answer');
  }
}

/** Events of a wire, which are not passed to the caller's log. */
const WIRE_EVENTS: ReadonlySet<Fact['kind']> = new Set(['request', 'response', 'broken']);

/** Removes what needs a wire. */
function withoutFaults(set: FixtureSet): FixtureSet {
  return {
    ...set,
    document: undefined,
    fixtures: set.fixtures.map(fixture => ({ ...fixture, faults: { callback: [] } })),
  };
}

/** All options of a local tool; fixtures or handlers are required. */
export interface LocalToolOptions extends ToolOptions {
  /** Also receives the decisions about a call (matched, shaped, warned, …), but not its request and response. */
  readonly log?: Log;
  /** Answers choices with an index or null. By default the default choice is used, with a warning. Consents are always refused. */
  readonly choose?: Choose;
  /** The wire of the calls, if there is one. */
  readonly wire?: Wire;
}

/** Stands in for the callback URL: the answer is returned. */
const NO_CALLBACK = 'local:';

/**
 * A tool that answers in this process, from the same fixtures and handlers as a mock. Faults of acknowledgements and callbacks are
 * ignored; delays, sequences and states apply.
 */
export class LocalTool extends Tool {
  readonly #choose: Choose | undefined;
  readonly #wire: Wire;
  #calls = 0;

  private constructor({ fixtures = NO_FIXTURES, wire = NO_WIRE, log, choose, ...options }: LocalToolOptions) {
    super({ ...options, fixtures: withoutFaults(fixtures) });
    this.#wire = wire;
    this.#choose = choose;
    if (log)
      this.log.subscribe(({ seq: _seq, at: _at, ...fact }) => {
        if (!WIRE_EVENTS.has(fact.kind)) log.emit(fact);
      });
  }

  /** @throws ProtocolCliError `invalid-toolset`. */
  static async start(options: LocalToolOptions): Promise<LocalTool> {
    await requireValidToolset(options.fixtures, options.handlers);
    return new LocalTool(options);
  }

  /**
   * Answers a call. Never rejects: every failure is an outcome. `sent` is the answer in the form of the wire; undefined for `silence`,
   * which resolves at once, and for a canceled call if the wire drops it.
   */
  async call(call: LocalCall): Promise<LocalReply & { readonly sent: unknown }> {
    const number = String(++this.#calls);
    const { operation, arguments: args, headers = {}, signal } = call;
    const ids = { group_id: call.groupId || 'local', id: call.id || `call-${number}` };
    const addressee = { callback_url: NO_CALLBACK, ...ids };
    const key = call.key ?? `call-${number}`;
    const caller = { key, addressee, base: NO_CALLBACK };
    const conversation = new LocalConversation(caller, { log: this.log, pauses: this.pauses }, this.#choose);
    const { about } = conversation;
    const invocation = { operation, arguments: args, ...addressee };
    const body = Content.ofJson(invocation);
    const request = this.#record('invocation', { ...about, headers, body });
    const overflow = this.openCalls.admit(conversation, body.bytes);
    const stopListening = onAbort(signal, () => {
      this.#record('cancel', about);
      conversation.cancel(CANCELED);
    });
    const plan = overflow === null ? await this.#plan(invocation, headers) : refusal(overflow);
    for (const fact of plan.facts) this.log.emit(Object.assign(fact, about));
    void this.openCalls.carryOut(plan, conversation);
    const reply = await conversation.answer;
    if (reply.kind !== 'silence') stopListening(); // a silent call can still be canceled
    return { ...reply, sent: this.#send(reply, operation, request, signal?.aborted ?? false, about) };
  }

  /** Replaces the fixtures from the next call on. @throws ProtocolCliError `invalid-toolset`. */
  replaceFixtures(fixtures: FixtureSet): Promise<void> {
    return this.responder.replaceFixtures(withoutFaults(fixtures));
  }

  override warn(message: string): void {
    super.warn(message);
  }

  /** Serves these routes with the mock's own controls. @throws ProtocolCliError `port-in-use`, `usage`. */
  override serve(options: ServerOptions, routes: readonly Route[]): Promise<RunningServer> {
    return super.serve(options, routes);
  }

  /** Waits up to `drainMs` for open calls, then cancels them. */
  protected override async end(drainMs: number): Promise<void> {
    await this.drain(drainMs);
    this.openCalls.stop();
  }

  async #plan(invocation: object, headers: Readonly<Record<string, string>>): Promise<Plan> {
    const reading = readInvocation({ ok: true, value: invocation, notes: [] });
    if (!reading.ok) return malformedRefusal('call', reading.faults);
    try {
      return await this.responder.plan({ invocation: reading.invocation, headers });
    } catch (error) {
      return plain([], () => Promise.reject(error)); // reported like any other failure of its work
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
    return recordRequest(this.log, { ...way, ...(dialect && { dialect }), ...about });
  }

  /** Returns the answer for the wire; undefined if none is sent. */
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
    for (const message of warnings) this.log.emit({ kind: 'warned', message, ...about });
    request.answered(200, { body: Content.ofJson(body) });
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

/** @param url of the endpoint, for events */
export function mcpWire(url: string): Wire {
  return {
    dialect: 'mcp',
    url,
    callMethod: 'tools/call',
    cancelMethod: 'notifications/cancelled',
    dropsCancelled: true,
    write: writeForMcp,
  };
}

/** JSON-RPC error code. */
const INVALID_PARAMS = -32_602;

/** Writes a CallToolResult, always with `isError` (seed 003); for an unknown tool `{ error }` of JSON-RPC. */
function writeForMcp(reply: SpokenReply, isOffered: () => boolean): Written {
  if (reply.kind === 'payload') return { body: textResult(reply.text), warnings: [] };
  if (reply.kind === 'verbatim') return writeResult(reply.result);
  const { outcome } = reply;
  if (outcome.type !== 'error' || isOffered()) return writeTranslated(reply);
  const error = { code: INVALID_PARAMS, message: outcome.message };
  return { body: { error }, warnings: [] };
}

/** Sends an MCP result unchanged, valid or not; translates a RAP result; sends any other object as text. */
function writeResult(result: Readonly<Record<string, unknown>>): Written {
  if (wireOfResult(result) === 'mcp') {
    const reading = readAs('mcp', { isError: false, ...result });
    const warnings = reading.ok ? [] : [`an invalid MCP result was sent: ${reading.faults.join('; ')}`];
    return { body: { ...result, isError: result['isError'] ?? false }, warnings };
  }
  if (readAsRap(result).ok) return writeTranslated({ kind: 'verbatim', result });
  const warning = 'a result has neither content (MCP) nor text (RAP); it was sent as text';
  return { body: textResult(JSON.stringify(result)), warnings: [warning] };
}

function writeTranslated(reply: SpokenReply): Written {
  const { body, warnings } = writeAs('mcp', answerOfLocal({ id: null }, reply));
  return { body, warnings: warnings.map(({ message }) => message) };
}

function textResult(text: string): object {
  return { content: [{ type: 'text', text }], isError: false };
}
