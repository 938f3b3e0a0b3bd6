import { type CallEnd, tellingEnd } from '../events/call-ends.js';
import { Content } from '../events/content.js';
import type { Event, EventOf, Planner, RequestEvent } from '../events/events.js';
import type { Verdict } from '../events/exchange.js';
import { idOf } from '../events/judge-callback.js';
import { RoundTrip } from '../events/round-trips.js';
import {
  type Callback,
  type CallbackReading,
  type CallbackType,
  isQuestion,
  readCallback,
  SECRET_URLS,
} from '../protocol/callbacks.js';
import { type Invocation, type InvocationReading, readInvocation } from '../protocol/invocation.js';
import { llmText } from '../protocol/outcome.js';
import type { ToolsetReading } from '../protocol/read-toolset.js';
import type { Tool, Toolset } from '../protocol/toolset.js';
import { groupBy } from '../util/collections.js';
import { mediaTypeOf } from '../util/headers.js';
import { isRecord } from '../util/values.js';
import { isErrorText } from './error-text.js';

/** A text in a message, and its place: `text`, `display_as[0].content.patch`. */
interface PlacedText {
  readonly place: string;
  readonly path: readonly (string | number)[];
  readonly text: string;
}

/** Members that have no text for a model or a person. */
const NOT_TEXT = new Set<string>(['type', 'group_id', 'id', 'call_id', 'tool_call_id', ...SECRET_URLS]);

export class CallbackEvidence extends RoundTrip {
  /** Null if the callback was refused before its body was read. */
  readonly reading: CallbackReading | null;
  readonly message: Callback | null;
  /** Equal for messages with the same content, even in other bytes; null without a body. */
  readonly fingerprint: string | null;

  /** @param verdict what the callback means for its call; null if it belongs to none */
  constructor(
    { request, end }: RoundTrip,
    readonly verdict: Verdict | null,
  ) {
    super(request, end);
    const { body } = request;
    this.reading = body ? readCallback(body.json) : null;
    this.message = this.reading?.ok ? this.reading.message : null;
    this.fingerprint = (this.message ? Content.ofJson(this.message) : body)?.sha256 ?? null;
  }

  /** The `type` of the body, valid or not. */
  get typeName(): string | null {
    return this.request.body?.messageType ?? null;
  }

  /** Whether it was posted to an address that belongs to no call. */
  get isMisdirected(): boolean {
    return this.request.method === 'POST' && (this.response?.refusal ?? 'wrong-address') === 'wrong-address';
  }

  get hasJsonType(): boolean {
    return mediaTypeOf(this.request.headers['content-type'] ?? '') === 'application/json';
  }

  /** Its texts for a model or a person. */
  get texts(): readonly PlacedText[] {
    const message = this.reading?.ok && isRecord(this.reading.native) ? this.reading.native : {};
    return Object.entries(message).flatMap(([name, value]) =>
      NOT_TEXT.has(name) ? [] : textsIn(value, [name]),
    );
  }

  equals(other: CallbackEvidence): boolean {
    return this.fingerprint !== null && this.fingerprint === other.fingerprint;
  }
}

function textsIn(value: unknown, path: PlacedText['path']): PlacedText[] {
  if (typeof value === 'string') {
    const steps = path.map(step => (typeof step === 'number' ? `[${step}]` : `.${step}`));
    return [{ place: steps.join('').slice(1), path, text: value }];
  }
  if (Array.isArray(value)) return value.flatMap((item, index) => textsIn(item, [...path, index]));
  if (!isRecord(value)) return [];
  const isImage = 'mediaType' in value;
  return Object.entries(value).flatMap(([name, member]) =>
    isImage && name === 'data' ? [] : textsIn(member, [...path, name]),
  );
}

export class Discovery extends RoundTrip {
  /** @param reading null if no document came */
  constructor(
    { request, end }: RoundTrip,
    readonly reading: ToolsetReading | null,
  ) {
    super(request, end);
  }
}

/** The toolsets that were loaded at a time, latest last. */
export function toolsetsAt(discoveries: readonly Discovery[], at: number): readonly Toolset[] {
  return discoveries.flatMap(({ reading, latestAt }) =>
    reading?.ok && latestAt <= at ? [reading.toolset] : [],
  );
}

export interface ReceivedCallback<Type extends CallbackType = CallbackType> {
  readonly callback: CallbackEvidence;
  readonly message: Extract<Callback, { type: Type }>;
}

export type Delivery = readonly [CallbackEvidence, ...CallbackEvidence[]];

/** How a call ended, as far as the events show. */
type Ending =
  /** `isError`: by convention, or because it reads like an error. */
  | {
      readonly kind: 'result';
      readonly callback: CallbackEvidence;
      readonly text: string;
      readonly isError: boolean;
    }
  | { readonly kind: 'asked'; readonly callback: CallbackEvidence }
  | { readonly kind: 'refused'; readonly attempt: RoundTrip; readonly status: number }
  | { readonly kind: 'silent'; readonly afterMs: number }
  /**
   * `unreadable`: only an invalid callback came; `called-off`: it was canceled, or its thread closed; `cut-short`: its tool crashed
   * before.
   */
  | { readonly kind: 'unreadable' | 'called-off' | 'unanswered' | 'open' | 'cut-short' };

interface CallContext {
  /** What each callback meant when it came, by request id. */
  readonly verdicts: ReadonlyMap<string, Verdict>;
  readonly discoveries: readonly Discovery[];
  readonly closesByThread: ReadonlyMap<string, readonly RoundTrip[]>;
}

/** A member of an invocation beside the required ones. `user_id: null` is another one than `user_id`. */
export interface OptionalMember {
  readonly name: string;
  /** Only of members that the protocol defines: the value of an unknown one makes no difference. */
  readonly isNull: boolean;
}

/** The plan of calls with valid arguments that hold hostile texts: the tool may answer them in any way, but must answer. */
export const HOSTILE_TEXTS = 'hostile-texts';

/** One invocation, valid or not, and everything that followed. */
export class CallEvidence {
  readonly reading: InvocationReading;
  /** Null if it is malformed, or has a callback URL that is not a URL. */
  readonly invocation: Invocation | null;
  /** Null if no loaded toolset has the operation. */
  readonly tool: Tool | null;
  readonly attempts: readonly RoundTrip[];
  /** Everything sent to its callback URL, oldest first. */
  readonly callbacks: readonly CallbackEvidence[];
  /** The valid ones among them. */
  readonly received: readonly ReceivedCallback[];
  readonly selections: readonly RoundTrip[];
  readonly cancels: readonly RoundTrip[];
  /** The first notice after the invocation that its thread is closed. */
  readonly closes: readonly RoundTrip[];
  readonly plans: readonly EventOf<'planned'>[];
  readonly expiries: readonly EventOf<'expired'>[];
  readonly decisions: readonly EventOf<'decided'>[];
  readonly timeout: EventOf<'expired'> | undefined;
  /** The first `seq` at which the call was canceled or its thread closed; infinite if it was not. */
  readonly canceledAtSeq: number;
  readonly #isToolsetKnown: boolean;

  // The other calls decide about these four: set by gatherEvidence, before a rule reads them.
  /** Errors of the arguments against the tool's `inputSchema`; null if they could not be checked. */
  argumentFaults: readonly string[] | null = null;
  /** The members beside the required ones because of which the call was refused. */
  refusedMembers: readonly OptionalMember[] = [];
  /** Posts to a wrong address that name it. */
  strays: readonly CallbackEvidence[] = [];
  /** Whether its tool crashed before the call ended, and it is not known to be the cause. */
  isCutShort = false;

  /** Computed when it is first read, so after `isCutShort` was set. */
  #ending: Ending | undefined;

  constructor(
    readonly key: string,
    trips: readonly RoundTrip[],
    events: readonly Event[],
    around: CallContext,
  ) {
    const of = (purpose: RequestEvent['purpose']) =>
      trips.filter(({ request }) => request.purpose === purpose);
    this.attempts = of('invocation');
    this.callbacks = of('callback').map(
      trip => new CallbackEvidence(trip, around.verdicts.get(trip.request.leg) ?? null),
    );
    this.received = this.callbacks.flatMap(callback =>
      callback.message ? [{ callback, message: callback.message }] : [],
    );
    this.selections = of('choice');
    this.cancels = of('cancel');
    this.plans = events.filter(event => event.kind === 'planned');
    this.expiries = events.filter(event => event.kind === 'expired');
    this.decisions = events.filter(event => event.kind === 'decided');
    this.timeout = this.expiries.find(({ what }) => what === 'timeout' || what === 'observation');
    const { seq = 0, at = 0, body } = this.attempts[0]?.request ?? {};
    this.reading = readInvocation(body?.json ?? { ok: false, reason: 'it has no body' });
    const isReachable = this.reading.ok && URL.canParse(this.reading.invocation.callback_url);
    this.invocation = isReachable ? this.reading.invocation : null;
    const toolsets = toolsetsAt(around.discoveries, at);
    this.#isToolsetKnown = toolsets.length > 0;
    const { operation, group_id = '' } = this.invocation ?? {};
    this.tool = toolsets.flatMap(({ tools }) => tools).findLast(({ name }) => name === operation) ?? null;
    const closes = around.closesByThread.get(group_id) ?? [];
    const first = indexAfter(seq, closes, close => close);
    this.closes = closes.slice(first, first + 1);
    this.canceledAtSeq = [
      ...[...this.cancels, ...this.closes].map(({ request }) => request),
      ...this.decisions.filter(({ what }) => what === 'cancel'),
    ].reduce((earliest, each) => Math.min(earliest, each.seq), Number.POSITIVE_INFINITY);
  }

  /** Why the tool must not execute the call; null if nothing is known. */
  get flaw(): 'malformed' | 'unknown-operation' | 'bad-arguments' | null {
    if (!this.invocation) return 'malformed';
    if (this.tool) return this.argumentFaults?.length ? 'bad-arguments' : null;
    return this.#isToolsetKnown ? 'unknown-operation' : null;
  }

  /** Identifies what the call asks for: equal for calls that differ only in their other members. */
  get content(): string {
    return JSON.stringify([this.invocation?.operation, this.invocation?.arguments]);
  }

  /** Whether one of these events is a request of this call. */
  isAbout(events: ReadonlySet<number>): boolean {
    const { attempts, callbacks, strays, selections, cancels } = this;
    return [attempts, callbacks, strays, selections, cancels]
      .flat()
      .some(({ request }) => events.has(request.seq));
  }

  get isHostile(): boolean {
    return this.plans.some(({ plan }) => plan === HOSTILE_TEXTS);
  }

  messages<Type extends CallbackType>(type: Type): readonly ReceivedCallback<Type>[] {
    const isWanted = (each: ReceivedCallback): each is ReceivedCallback & ReceivedCallback<Type> =>
      each.message.type === type;
    return this.received.filter(isWanted);
  }

  firstAfter(seq: number, ...types: readonly CallbackType[]): CallbackEvidence | undefined {
    const { received } = this;
    for (let at = indexAfter(seq, received, each => each.callback); at < received.length; at++) {
      const each = received[at];
      if (each && types.includes(each.message.type)) return each.callback;
    }
    return undefined;
  }

  /** Whether the program that recorded it canceled it. */
  get isCanceledHere(): boolean {
    return this.decisions.some(({ what }) => what === 'cancel');
  }

  /** Whether its tool acknowledged it with a body, which a runtime does not read. */
  get isAcknowledgedWithBody(): boolean {
    return this.plans.some(({ plan }) => plan === 'ack body');
  }

  hasPlanBy(by: Planner): boolean {
    return this.plans.some(plan => plan.by === by);
  }

  /** The callbacks, grouped by message. A callback without a body is a group of its own. */
  deliveries(): readonly Delivery[] {
    const groups = groupBy(this.callbacks, callback => [callback.fingerprint ?? callback]);
    return [...groups.values()].filter((group): group is [CallbackEvidence] => group.length > 0);
  }

  get results(): readonly CallbackEvidence[] {
    const { group_id, id } = this.invocation ?? {};
    return this.messages('tool_result')
      .filter(({ message }) => message.group_id === group_id && idOf(message) === id)
      .map(({ callback }) => callback);
  }

  /** What a summary counts it as. */
  get end(): CallEnd {
    const isAcknowledged = this.attempts.some(({ status }) => status === 200);
    const ofCallbacks = this.callbacks.map(({ typeName }) =>
      typeName === 'tool_result' ? 'result' : 'unfinished',
    );
    return tellingEnd([
      ...ofCallbacks,
      ...(this.strays.length > 0 ? ['wrong-address' as const] : []),
      ...(this.cancels.length > 0 || this.isCanceledHere ? ['canceled' as const] : []),
      ...(isAcknowledged ? ['silent' as const] : []),
    ]);
  }

  get ending(): Ending {
    this.#ending ??= this.#result() ?? this.#refusal() ?? this.#otherCallback() ?? this.#absence();
    return this.#ending;
  }

  #result(): Ending | null {
    const [first] = this.messages('tool_result');
    if (!first) return null;
    const { timeout, canceledAtSeq } = this;
    // A result after a timeout and a cancel may have been caused by the cancel.
    if (timeout && timeout.seq < canceledAtSeq && canceledAtSeq < first.callback.request.seq) return null;
    const text = llmText(first.message);
    const isError = isErrorText(text, this.invocation);
    return { kind: 'result', callback: first.callback, text, isError };
  }

  #refusal(): Ending | null {
    const attempt = this.attempts.findLast(({ status }) => status !== null);
    const status = attempt?.status ?? 200;
    return attempt && status !== 200 ? { kind: 'refused', attempt, status } : null;
  }

  #otherCallback(): Ending | null {
    const callback = this.callbacks.find(({ typeName }) => isQuestion({ type: typeName }));
    if (callback) return { kind: 'asked', callback };
    return this.callbacks.some(({ message }) => message === null) ? { kind: 'unreadable' } : null;
  }

  #absence(): Ending {
    const { timeout } = this;
    if (this.canceledAtSeq < (timeout?.seq ?? Number.POSITIVE_INFINITY)) return { kind: 'called-off' };
    if (!this.attempts.some(({ status }) => status === 200)) return { kind: 'unanswered' };
    if (this.isCutShort) return { kind: 'cut-short' };
    return timeout ? { kind: 'silent', afterMs: timeout.afterMs } : { kind: 'open' };
  }
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
