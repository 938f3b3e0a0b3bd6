import type { Event, EventOf, RequestEvent } from '../events/events.js';
import type { Verdict } from '../events/exchange.js';
import { History } from '../events/history.js';
import { idOf } from '../events/judge-callback.js';
import type { RoundTrip } from '../events/round-trips.js';
import type { CallbackType } from '../protocol/callbacks.js';
import { type Invocation, type InvocationReading, readInvocation } from '../protocol/invocation.js';
import type { Tool } from '../protocol/toolset.js';
import { groupBy } from '../util/collections.js';
import { CallbackEvidence, type ReceivedCallback } from './callback-evidence.js';
import { type Discovery, toolsetsAt } from './discovery.js';

/** The plan of calls with valid arguments that hold hostile texts: the tool may answer them in any way, but must answer. */
export const HOSTILE_TEXTS_PLAN = 'hostile-texts';

/** One invocation, valid or not, and what the events say of it. {@link CallEvidence} adds what depends on other calls. */
export interface RecordedCall {
  /** Unique in its recording. */
  readonly key: string;
  readonly reading: InvocationReading;
  /** Null if it is malformed, or has a callback URL that is not a URL. */
  readonly invocation: Invocation | null;
  /** Null if no loaded toolset has the operation. */
  readonly tool: Tool | null;
  /** Whether a toolset was loaded before the call. */
  readonly isToolsetKnown: boolean;
  readonly attempts: readonly RoundTrip[];
  /** Everything sent to its callback URL, oldest first. */
  readonly callbacks: readonly CallbackEvidence[];
  /** The valid ones among them. */
  readonly received: readonly ReceivedCallback[];
  /** The results with the ids of the call. */
  readonly results: readonly CallbackEvidence[];
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
  /** Whether the program that recorded it canceled it. */
  readonly isCanceledHere: boolean;
  /** Whether a check made it. */
  readonly isProbed: boolean;
  readonly isHostile: boolean;
  /** Whether its tool acknowledged it with a body, which a runtime does not read. */
  readonly isAcknowledgedWithBody: boolean;
}

/** What the calls of a recording have in common. */
interface CallContext {
  /** What each callback meant when it came, by request id. */
  readonly verdicts: ReadonlyMap<string, Verdict>;
  readonly discoveries: readonly Discovery[];
  readonly closesByThread: ReadonlyMap<string, readonly RoundTrip[]>;
}

/** Each call with its requests, callbacks and other events, in the order in which they were made. */
export function recordedCallsIn(
  events: readonly Event[],
  trips: readonly RoundTrip[],
  discoveries: readonly Discovery[],
): readonly RecordedCall[] {
  const closes = trips.filter(({ request }) => request.purpose === 'close');
  const context = {
    verdicts: verdictsOf(events),
    discoveries,
    closesByThread: groupBy(closes, ({ request: { thread } }) => (thread === undefined ? [] : [thread])),
  };
  const eventsByCall = groupBy(events, event => event.calls ?? []);
  const tripsByCall = groupBy(
    trips,
    ({ request: { calls = [], purpose, leg } }) =>
      calls.length === 0 && purpose === 'invocation' ? [leg] : calls, // a malformed invocation counts as a call of its own
  );
  return [...tripsByCall]
    .filter(([, own]) => own.some(({ request }) => request.purpose === 'invocation'))
    .map(([key, own]) => recordedCall(key, own, eventsByCall.get(key) ?? [], context));
}

function recordedCall(
  key: string,
  trips: readonly RoundTrip[],
  events: readonly Event[],
  { verdicts, discoveries, closesByThread }: CallContext,
): RecordedCall {
  const of = (purpose: RequestEvent['purpose']) => trips.filter(({ request }) => request.purpose === purpose);
  const attempts = of('invocation');
  const { seq = 0, at = 0, body } = attempts[0]?.request ?? {};
  const reading = readInvocation(body?.json ?? { ok: false, reason: 'it has no body' });
  const isReachable = reading.ok && URL.canParse(reading.invocation.callback_url);
  const invocation = isReachable ? reading.invocation : null;
  const toolsets = toolsetsAt(discoveries, at);
  const tools = toolsets.flatMap(toolset => toolset.tools);
  const callbacks = of('callback').map(
    trip => new CallbackEvidence(trip, verdicts.get(trip.request.leg) ?? null),
  );
  const received = callbacks.flatMap(callback =>
    callback.message ? [{ callback, message: callback.message }] : [],
  );
  const closes = closesByThread.get(invocation?.group_id ?? '') ?? [];
  const firstClose = indexAfter(seq, closes, close => close);
  const endings = { cancels: of('cancel'), closes: closes.slice(firstClose, firstClose + 1) };
  return {
    key,
    reading,
    invocation,
    tool: tools.findLast(({ name }) => name === invocation?.operation) ?? null,
    isToolsetKnown: toolsets.length > 0,
    attempts,
    callbacks,
    received,
    results: resultsOf(invocation, received),
    selections: of('choice'),
    ...endings,
    ...decidedIn(events, endings),
  };
}

function resultsOf(
  invocation: Invocation | null,
  received: readonly ReceivedCallback[],
): readonly CallbackEvidence[] {
  return messagesOf({ received }, 'tool_result')
    .filter(({ message }) => message.group_id === invocation?.group_id && idOf(message) === invocation?.id)
    .map(({ callback }) => callback);
}

/** What was planned and decided for a call. */
function decidedIn(events: readonly Event[], { cancels, closes }: Pick<RecordedCall, 'cancels' | 'closes'>) {
  const plans = events.filter(event => event.kind === 'planned');
  const expiries = events.filter(event => event.kind === 'expired');
  const decisions = events.filter(event => event.kind === 'decided');
  const canceledHere = decisions.filter(({ what }) => what === 'cancel');
  const ends = [...[...cancels, ...closes].map(({ request }) => request), ...canceledHere];
  return {
    plans,
    expiries,
    decisions,
    timeout: expiries.find(({ what }) => what === 'timeout' || what === 'observation'),
    canceledAtSeq: ends.reduce((earliest, { seq }) => Math.min(earliest, seq), Number.POSITIVE_INFINITY),
    isCanceledHere: canceledHere.length > 0,
    isProbed: plans.some(({ by }) => by === 'probe'),
    isHostile: plans.some(({ plan }) => plan === HOSTILE_TEXTS_PLAN),
    isAcknowledgedWithBody: plans.some(({ plan }) => plan === 'ack body'),
  };
}

/** What each callback meant for its call when it came, by request id: the fold may forget it later. */
function verdictsOf(events: readonly Event[]): ReadonlyMap<string, Verdict> {
  const history = new History();
  const verdicts = new Map<string, Verdict>();
  for (const event of events) {
    history.apply(event);
    for (const key of event.calls ?? []) {
      const arrival = history.exchanges.get(key)?.arrivals.at(-1);
      if (arrival && !verdicts.has(arrival.leg)) verdicts.set(arrival.leg, arrival.verdict);
    }
  }
  return verdicts;
}

/** Whether the tool answered 200 to one of its attempts. */
export function isAcknowledged({ attempts }: Pick<RecordedCall, 'attempts'>): boolean {
  return attempts.some(({ status }) => status === 200);
}

/** The valid callbacks of one type. */
export function messagesOf<Type extends CallbackType>(
  { received }: Pick<RecordedCall, 'received'>,
  type: Type,
): readonly ReceivedCallback<Type>[] {
  const isWanted = (each: ReceivedCallback): each is ReceivedCallback & ReceivedCallback<Type> =>
    each.message.type === type;
  return received.filter(isWanted);
}

/** Identifies what a call asks for: equal for calls that differ only in their other members. */
export function contentOf({ invocation }: RecordedCall): string {
  return JSON.stringify([invocation?.operation, invocation?.arguments]);
}

/** The first valid callback of these types after an event. */
export function firstCallbackAfter(
  seq: number,
  { received }: RecordedCall,
  ...types: readonly CallbackType[]
): CallbackEvidence | undefined {
  for (let at = indexAfter(seq, received, each => each.callback); at < received.length; at++) {
    const each = received[at];
    if (each && types.includes(each.message.type)) return each.callback;
  }
  return undefined;
}

/**
 * The index of the first item whose request came after an event; the number of items if absent. A binary search: a thread may have as
 * many notices as calls, and a call as many callbacks as questions.
 */
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
