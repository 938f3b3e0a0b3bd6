import { Content } from '../events/content.js';
import type { Event, EventKind, RequestEvent, ResponseEvent } from '../events/events.js';
import type { Verdict } from '../events/exchange.js';
import { idOf } from '../events/fold-exchange.js';
import { typeOfMessage } from '../events/tool-call.js';
import {
  type Callback,
  type CallbackReading,
  type CallbackType,
  readCallback,
} from '../protocol/callbacks.js';
import { llmText, outcomeOfText } from '../protocol/outcome.js';
import { type Invocation, type InvocationReading, readInvocation } from '../protocol/read-invocation.js';
import type { ToolsetReading } from '../protocol/read-toolset.js';
import type { Tool, Toolset } from '../protocol/toolset.js';
import { stringsIn } from '../util/values.js';

export type EventOf<Kind extends EventKind> = Extract<Event, { kind: Kind }>;

/** The error codes which show that the other side closed an open connection. */
const CUT_CODES: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE']);

/** A request, and its response or error; neither while it is in progress. */
export class RoundTrip {
  constructor(
    readonly request: RequestEvent,
    readonly response: ResponseEvent | null,
    readonly broken: EventOf<'broken'> | null,
  ) {}

  get status(): number | null {
    return this.response?.status ?? null;
  }

  /** The time of the response or error. */
  get endedAt(): number | null {
    return this.response?.at ?? this.broken?.at ?? null;
  }

  /** The same, or the time of the request while it is in progress. */
  get latestAt(): number {
    return this.endedAt ?? this.request.at;
  }

  /** The `seq` of its last event. */
  get lastSeq(): number {
    return this.response?.seq ?? this.broken?.seq ?? this.request.seq;
  }

  /** The `seq` of each of its events. */
  get events(): number[] {
    return [this.request, this.response, this.broken].flatMap(event => (event ? [event.seq] : []));
  }

  /** Answered 5xx or lost: the sender may retry. */
  get isFailed(): boolean {
    return this.broken !== null || (this.status ?? 0) >= 500;
  }

  /** Answered 4xx: the sender must not retry. */
  get isRefused(): boolean {
    return this.status !== null && this.status >= 400 && this.status < 500;
  }

  /** How the connection failed; null if it did not. `cut`: the other side closed it. */
  get failure(): 'aborted' | 'timed-out' | 'cut' | 'failed' | null {
    if (!this.broken) return null;
    const { code, phase } = this.broken;
    if (code === 'ABORTED') return 'aborted';
    if (/^(?:ETIMEDOUT|UND_ERR_[A-Z]+_TIMEOUT)$/.test(code)) return 'timed-out';
    return CUT_CODES.has(code) && phase !== 'connect' ? 'cut' : 'failed';
  }

  /** The request never reached the other side. */
  get isUnsent(): boolean {
    return this.broken?.phase === 'connect' || this.broken?.phase === 'address';
  }

  /** The JSON value of the request; undefined if absent. */
  get sentJson(): unknown {
    const json = this.request.body?.json;
    return json?.ok ? json.value : undefined;
  }

  /** The size of the response body in bytes, as far as it is known. */
  get responseSize(): number {
    return this.response?.body?.size ?? Number(this.response?.headers['content-length'] ?? 0);
  }
}

/** Whether a message had a body that the recording does not have. */
export function isBodyLost(event: RequestEvent | ResponseEvent): boolean {
  if (event.body) return false;
  return 'body' in event || Number(event.headers['content-length'] ?? 0) > 0;
}

export class CallbackEvidence extends RoundTrip {
  /** Null if the callback was refused before its body was read. */
  readonly reading: CallbackReading | null;
  readonly message: Callback | null;
  #fingerprint: string | null | undefined;

  /** @param verdict what the callback means for its call; null if it belongs to none */
  constructor(
    { request, response, broken }: RoundTrip,
    readonly verdict: Verdict | null,
  ) {
    super(request, response, broken);
    this.reading = request.body ? readCallback(request.body.json) : null;
    this.message = this.reading?.ok ? this.reading.message : null;
  }

  /** The `type` of the body, valid or not. */
  get typeName(): string | null {
    return typeOfMessage(this.request.body ?? null);
  }

  /** Equal for messages with the same content, even in other bytes; null without a body. */
  get fingerprint(): string | null {
    this.#fingerprint ??= this.message
      ? Content.ofJson(this.message).sha256
      : (this.request.body?.sha256 ?? null);
    return this.#fingerprint;
  }

  equals(other: CallbackEvidence): boolean {
    return this.fingerprint !== null && this.fingerprint === other.fingerprint;
  }
}

/** A request for a toolset. */
export class Discovery extends RoundTrip {
  /** @param reading null if no document came */
  constructor(
    { request, response, broken }: RoundTrip,
    readonly reading: ToolsetReading | null,
  ) {
    super(request, response, broken);
  }
}

/** The toolsets that were loaded at a time, latest last. */
export function toolsetsAt(discoveries: readonly Discovery[], at: number): readonly Toolset[] {
  return discoveries.flatMap(({ reading, response }) =>
    reading?.ok && (response?.at ?? 0) <= at ? [reading.toolset] : [],
  );
}

/** A valid callback and its message. */
export interface Received<Type extends CallbackType = CallbackType> {
  readonly callback: CallbackEvidence;
  readonly message: Extract<Callback, { type: Type }>;
}

export function receivedIn(callbacks: readonly CallbackEvidence[]): readonly Received[] {
  return callbacks.flatMap(callback => (callback.message ? [{ callback, message: callback.message }] : []));
}

/** All deliveries of one message. */
export type Delivery = readonly [CallbackEvidence, ...CallbackEvidence[]];

/** How a call ended, as far as the events show. */
export type Ending =
  /** `isError`: by convention, or because it reads like an error. */
  | {
      readonly kind: 'result';
      readonly callback: CallbackEvidence;
      readonly text: string;
      readonly isError: boolean;
    }
  /** The tool asked the user. */
  | { readonly kind: 'asked'; readonly callback: CallbackEvidence }
  | { readonly kind: 'refused'; readonly attempt: RoundTrip; readonly status: number }
  /** Only an invalid callback came. */
  | { readonly kind: 'unreadable' }
  /** No callback came in time. */
  | { readonly kind: 'silent'; readonly afterMs: number }
  /** The call was canceled, or its thread closed. */
  | { readonly kind: 'called-off' }
  /** `cut-short`: its tool crashed for another reason. */
  | { readonly kind: 'unanswered' | 'open' | 'cut-short' };

/** What a call needs to know of the other events. */
interface Around {
  /** What each callback meant when it came, by request id. */
  readonly verdicts: ReadonlyMap<string, Verdict>;
  readonly discoveries: readonly Discovery[];
  readonly closesByThread: ReadonlyMap<string, readonly RoundTrip[]>;
}

/** One invocation, valid or not, and everything that followed. */
export class CallEvidence {
  /** Of the first attempt's body. */
  readonly reading: InvocationReading;
  readonly invocation: Invocation | null;
  /** Null if no loaded toolset has the operation. */
  readonly tool: Tool | null;
  /** Errors of the arguments against the tool's `inputSchema`; null if they could not be checked. */
  argumentFaults: readonly string[] | null = null;
  readonly attempts: readonly RoundTrip[];
  /** Everything sent to its callback URL, oldest first. */
  readonly callbacks: readonly CallbackEvidence[];
  /** The valid ones among them. */
  readonly received: readonly Received[];
  /** The user's answers to its questions. */
  readonly selections: readonly RoundTrip[];
  readonly cancels: readonly RoundTrip[];
  /** The first notice after the invocation that its thread is closed. */
  readonly closes: readonly RoundTrip[];
  readonly plans: readonly EventOf<'planned'>[];
  readonly expiries: readonly EventOf<'expired'>[];
  readonly decisions: readonly EventOf<'decided'>[];
  /** The event which says that the wait for a result timed out. */
  readonly timeout: EventOf<'expired'> | undefined;
  /** The first `seq` at which the call was canceled or its thread closed; infinite if it was not. */
  readonly calledOffAt: number;
  /** Whether its tool crashed for another reason before the call ended. */
  isCutShort = false;
  readonly #isToolsetKnown: boolean;
  #ending: Ending | undefined;

  /** @param trips and events that concern the call */
  constructor(
    readonly key: string,
    trips: readonly RoundTrip[],
    events: readonly Event[],
    around: Around,
  ) {
    const of = (purpose: RequestEvent['purpose']) =>
      trips.filter(({ request }) => request.purpose === purpose);
    this.attempts = of('invocation');
    this.callbacks = of('callback').map(
      trip => new CallbackEvidence(trip, around.verdicts.get(trip.request.leg) ?? null),
    );
    this.received = receivedIn(this.callbacks);
    this.selections = of('choice');
    this.cancels = of('cancel');
    this.plans = events.filter(event => event.kind === 'planned');
    this.expiries = events.filter(event => event.kind === 'expired');
    this.decisions = events.filter(event => event.kind === 'decided');
    this.timeout = this.expiries.find(({ what }) => what === 'timeout' || what === 'observation');
    const { seq = 0, at = 0, body } = this.attempts[0]?.request ?? {};
    this.reading = readInvocation(body?.json ?? { ok: false, reason: 'it has no body' });
    this.invocation = this.reading.ok ? this.reading.invocation : null;
    const toolsets = toolsetsAt(around.discoveries, at);
    this.#isToolsetKnown = toolsets.length > 0;
    this.tool = toolNamed(toolsets, this.invocation?.operation) ?? null;
    const closes = around.closesByThread.get(this.invocation?.group_id ?? '') ?? [];
    const first = indexAfter(seq, closes, close => close);
    this.closes = closes.slice(first, first + 1);
    this.calledOffAt = [
      ...[...this.cancels, ...this.closes].map(({ request }) => request.seq),
      ...this.decisions.flatMap(({ what, seq: decidedAt }) => (what === 'cancel' ? [decidedAt] : [])),
    ].reduce((earliest, each) => Math.min(earliest, each), Number.POSITIVE_INFINITY);
  }

  /** Why the tool must not execute the call; null if nothing is known. */
  get flaw(): 'malformed' | 'unknown-operation' | 'bad-arguments' | null {
    if (!this.invocation) return 'malformed';
    if (this.tool) return this.argumentFaults?.length ? 'bad-arguments' : null;
    return this.#isToolsetKnown ? 'unknown-operation' : null;
  }

  /** The valid callbacks of a type, oldest first. */
  messages<Type extends CallbackType>(type: Type): readonly Received<Type>[] {
    return this.received.flatMap(({ callback, message }) =>
      isOfType(message, type) ? [{ callback, message }] : [],
    );
  }

  /** The first valid callback of these types after an event. */
  firstAfter(seq: number, ...types: readonly CallbackType[]): CallbackEvidence | undefined {
    const { received } = this;
    for (let at = indexAfter(seq, received, each => each.callback); at < received.length; at++) {
      const each = received[at];
      if (each && types.includes(each.message.type)) return each.callback;
    }
    return undefined;
  }

  isMadeBy(by: EventOf<'planned'>['by']): boolean {
    return this.plans.some(plan => plan.by === by);
  }

  /** Whether a message names the call that its URL belongs to. */
  isNamedBy(message: Callback): boolean {
    const { group_id, id } = this.invocation ?? {};
    return message.group_id === group_id && (idOf(message) ?? id) === id;
  }

  /** The callbacks, grouped by message. A callback without a body is a group of its own. */
  deliveries(): readonly Delivery[] {
    const groups = groupBy(this.callbacks, callback => [callback.fingerprint ?? callback]);
    return [...groups.values()].filter((group): group is [CallbackEvidence] => group.length > 0);
  }

  get ending(): Ending {
    this.#ending ??= this.#result() ?? this.#refusal() ?? this.#otherCallback() ?? this.#absence();
    return this.#ending;
  }

  #result(): Ending | null {
    const [first] = this.messages('tool_result');
    if (!first || this.#isExplainedByTimeout(first.callback)) return null;
    const text = llmText(first.message);
    const isError = outcomeOfText(text).type !== 'success' || soundsLikeError(text, this.invocation);
    return { kind: 'result', callback: first.callback, text, isError };
  }

  /** Whether the result came after a timeout and a cancel: then the cancel may have caused it. */
  #isExplainedByTimeout({ request }: CallbackEvidence): boolean {
    const { timeout, calledOffAt } = this;
    return timeout !== undefined && timeout.seq < calledOffAt && calledOffAt < request.seq;
  }

  #refusal(): Ending | null {
    const attempt = this.attempts.findLast(({ status }) => status !== null);
    const status = attempt?.status ?? 200;
    return attempt && status !== 200 ? { kind: 'refused', attempt, status } : null;
  }

  #otherCallback(): Ending | null {
    const callback = this.callbacks.find(
      ({ typeName }) => typeName === 'oauth' || typeName === 'user_choice',
    );
    if (callback) return { kind: 'asked', callback };
    return this.callbacks.some(({ message }) => message === null) ? { kind: 'unreadable' } : null;
  }

  #absence(): Ending {
    const { timeout } = this;
    if (this.calledOffAt < (timeout?.seq ?? Number.POSITIVE_INFINITY)) return { kind: 'called-off' };
    if (!this.attempts.some(({ status }) => status === 200)) return { kind: 'unanswered' };
    if (this.isCutShort) return { kind: 'cut-short' };
    return timeout ? { kind: 'silent', afterMs: timeout.afterMs } : { kind: 'open' };
  }
}

function isOfType<Type extends CallbackType>(
  message: Callback,
  type: Type,
): message is Received<Type>['message'] {
  return message.type === type;
}

/** A longer text is hardly an error message. */
const MAX_ERROR_LENGTH = 4_000;

const ERROR_WORDS =
  /\b(?:error|exception|invalid|unknown|unsupported|unrecogni[sz]ed|unexpected|malformed|missing|required?|must|cannot|can't|could not|couldn't|fail(?:s|ed|ure)?|not (?:found|valid|known|supported|allowed|available|defined|an?|implemented)|no such|does not|doesn't|refused|rejected|denied)\b/i;

/** Whether a text reads like an error, without the words that it repeats from the invocation. */
function soundsLikeError(text: string, invocation: Invocation | null): boolean {
  if (text.length > MAX_ERROR_LENGTH) return false;
  const repeated = [invocation?.operation ?? '', ...stringsIn(invocation?.arguments ?? {})];
  const own = repeated
    .filter(word => word.length > 2)
    .reduce((rest, word) => rest.replaceAll(word, ' '), text);
  return ERROR_WORDS.test(own);
}

function toolNamed(toolsets: readonly Toolset[], name: string | undefined): Tool | undefined {
  return toolsets.flatMap(({ tools }) => tools).findLast(tool => tool.name === name);
}

/** The index of the first item whose request came after an event; the number of items if absent. */
function indexAfter<T>(seq: number, items: readonly T[], tripOf: (item: T) => RoundTrip): number {
  let [from, to] = [0, items.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    const item = items[middle];
    if (item && tripOf(item).request.seq > seq) to = middle;
    else from = middle + 1;
  }
  return from;
}

export function groupBy<T, Key>(all: readonly T[], keysOf: (one: T) => readonly Key[]): Map<Key, T[]> {
  const groups = new Map<Key, T[]>();
  for (const one of all)
    for (const key of keysOf(one)) {
      const group = groups.get(key);
      if (group) group.push(one);
      else groups.set(key, [one]);
    }
  return groups;
}
