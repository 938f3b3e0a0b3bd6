import { endsCall, isQuestion } from '../protocol/callbacks.js';
import { type Addressee, type Invocation, readInvocation } from '../protocol/invocation.js';
import { Content } from './content.js';
import {
  type Body,
  type DecidedEvent,
  type EndEvent,
  type Event,
  type EventOf,
  ignored,
  isDirect,
  type NearestFixture,
  type RequestEvent,
} from './events.js';
import { endOf, isAccepted, type SentRequest } from './round-trips.js';

/** One callback to the runtime with its attempts, or the result that a client without callbacks got in the response. */
export interface CallbackDelivery {
  /** Set if the body does not contain it. */
  readonly type?: string;
  readonly url: string;
  readonly body: Body | null;
  readonly attempts: readonly SentRequest[];
}

export function isDelivered({ attempts }: CallbackDelivery): boolean {
  return attempts.some(isAccepted);
}

/** The `type` of a callback; null if the body is not a message (some faults cause that). */
export function typeOfDelivery({ type, body }: CallbackDelivery): string | null {
  return type ?? body?.messageType ?? null;
}

/** The user action that a call waits for. */
export type Awaits = 'fire' | 'choice' | 'consent';

/** One invocation as the tool sees it, with everything that the tool sent. Times in ms since the start. */
export interface ToolCall {
  readonly key: string;
  /** Null if malformed. */
  readonly invocation: Invocation | null;
  /** Where the callbacks go, also for a malformed invocation; null if unreadable. */
  readonly addressee: Addressee | null;
  readonly receivedAt: number;
  readonly arrivals: number;
  /** Whether the response is the result, as in MCP: no callbacks, no acknowledgement. */
  readonly isDirect: boolean;
  readonly acknowledgement: { readonly leg: string; readonly status?: number; readonly at?: number };
  /** The fixture or handler that answers; null if none does. */
  readonly answeredBy: string | null;
  readonly nearest?: NearestFixture;
  readonly isCancelled: boolean;
  /** The user action that the call waits for; null if none. */
  readonly awaits: Awaits | null;
  /** Whether no callback is planned. */
  readonly isSilent: boolean;
  readonly deliveries: readonly CallbackDelivery[];
  /** The number of dropped callbacks. */
  readonly forgotten: number;
  /** Planned deviations from correct behavior: faults, silence, a rate limit. */
  readonly plans: readonly string[];
  readonly decisions: readonly DecidedEvent[];
  readonly dropped: readonly string[];
  /** Why the delivery of its result, or of a later callback, was given up; null if it was not. */
  readonly lost: string | null;
  readonly warnings: readonly string[];
}

/** Folds an event into a call; undefined if the call is unknown and the event does not start it. Pure. */
export function stepToolCall(key: string, call: ToolCall | undefined, event: Event): ToolCall | undefined {
  if (event.kind === 'request' && event.purpose === 'invocation')
    return call
      ? { ...call, arrivals: call.arrivals + 1, acknowledgement: { leg: event.leg } }
      : begin(key, event);
  return call && step(call, event);
}

function begin(key: string, event: RequestEvent): ToolCall {
  const reading = event.body && readInvocation(event.body.json);
  return {
    key,
    invocation: reading?.ok ? reading.invocation : null,
    addressee: (reading?.ok ? reading.invocation : reading?.addressee) ?? null,
    receivedAt: event.at,
    arrivals: 1,
    isDirect: isDirect(event),
    acknowledgement: { leg: event.leg },
    answeredBy: null,
    isCancelled: false,
    awaits: null,
    isSilent: false,
    deliveries: [],
    forgotten: 0,
    plans: [],
    decisions: [],
    dropped: [],
    lost: null,
    warnings: [],
  };
}

function step(call: ToolCall, event: Event): ToolCall {
  switch (event.kind) {
    case 'request':
      if (event.purpose === 'callback') return withCallback(call, event);
      return event.purpose === 'cancel' ? { ...call, isCancelled: true } : call;
    case 'response':
    case 'broken':
      return withEnd(call, event);
    case 'matched':
      return { ...call, answeredBy: event.fixture, ...(event.nearest && { nearest: event.nearest }) };
    case 'planned':
      return withPlan(call, event);
    case 'decided':
      return { ...call, awaits: null, decisions: [...call.decisions, event] };
    case 'expired':
      return { ...call, awaits: null };
    case 'dropped': {
      const { what, why } = event;
      const lost = isLoss(call, event) ? why : call.lost;
      const awaits = what === 'event' ? null : call.awaits;
      return { ...call, awaits, dropped: [...call.dropped, why], lost };
    }
    case 'warned':
      return { ...call, warnings: [...call.warnings, event.message] };
    default:
      ignored<
        | 'expected'
        | 'answered'
        | 'denied'
        | 'loaded'
        | 'shaped'
        | 'session'
        | 'awaiting'
        | 'driver'
        | 'exited'
      >(event);
      return call;
  }
}

function withPlan(call: ToolCall, { plan, by }: EventOf<'planned'>): ToolCall {
  if (plan === 'demand') return { ...call, awaits: 'fire' };
  const isOfRequest = by === 'fault' && plan.includes(' '); // such as `choice status`: the question stays open
  const awaits = isOfRequest ? call.awaits : null;
  return { ...call, awaits, plans: [...call.plans, plan], isSilent: call.isSilent || plan === 'silence' };
}

/** The first attempt starts a delivery; further attempts belong to the latest delivery of the same bytes. */
function withCallback(call: ToolCall, event: RequestEvent): ToolCall {
  const { leg, at, url, body = null, attempt, turn, dialect, method } = event;
  const { deliveries } = call;
  const isOf = (each: CallbackDelivery) => Content.areSame(each.body, body);
  const index = attempt === 1 ? -1 : deliveries.findLastIndex(isOf);
  const known = deliveries[index];
  const delivery = known
    ? { ...known, attempts: [...known.attempts, { leg, at }] }
    : { ...(dialect === 'mcp' && { type: method }), url, body, attempts: [{ leg, at }] };
  const isAgain = attempt > 1 || (turn === undefined && deliveries.some(isOf)); // without a turn, the user sent it again
  return {
    ...call,
    awaits: isAgain ? call.awaits : questionIn(body),
    deliveries: known ? deliveries.with(index, delivery) : [...deliveries, delivery],
  };
}

function questionIn(body: Body | null): Awaits | null {
  const type = body?.messageType;
  return type === 'user_choice' ? 'choice' : type === 'oauth' ? 'consent' : null;
}

function withEnd(call: ToolCall, event: EndEvent): ToolCall {
  const { leg, at: endedAt } = event;
  if (call.acknowledgement.leg === leg) {
    if (event.kind === 'broken')
      return call.isDirect ? { ...call, awaits: null, lost: call.lost ?? event.code } : call;
    const { status, body = null } = event;
    const acknowledged = { ...call, acknowledgement: { leg, status, at: endedAt } };
    if (!call.isDirect) return acknowledged;
    const attempts = [{ leg, at: call.receivedAt, endedAt, status }];
    const result = { type: 'tool_result', url: '', body, attempts };
    return { ...acknowledged, awaits: null, deliveries: [...call.deliveries, result] };
  }
  const ended = (attempt: SentRequest) => (attempt.leg === leg ? { ...attempt, ...endOf(event) } : attempt);
  const deliveries = call.deliveries.map(each => ({ ...each, attempts: each.attempts.map(ended) }));
  const next = { ...call, deliveries };
  return call.lost !== null && !isResultTaken(call) && isResultTaken(next) ? { ...next, lost: null } : next;
}

function isLoss(call: ToolCall, { what, leg, type }: EventOf<'dropped'>): boolean {
  if (what !== 'callback') return false;
  const delivery = call.deliveries.find(({ attempts }) => attempts.some(attempt => attempt.leg === leg));
  const message = type ?? (delivery && typeOfDelivery(delivery));
  return endsCall(message) || isResultTaken(call);
}

function isResultTaken({ deliveries }: ToolCall): boolean {
  return deliveries.some(each => isDelivered(each) && typeOfDelivery(each) === 'tool_result');
}

/**
 * `waiting`: the result is not sent yet; `asking`: the user has to act; `delivered`: the runtime accepted the result;
 * `undelivered`: delivery was given up; `silent`: no callback is planned; `refused`: the invocation was not accepted.
 */
export type ToolCallState = 'waiting' | 'asking' | 'delivered' | 'undelivered' | 'silent' | 'refused';

export function toolCallState(call: ToolCall): ToolCallState {
  const { status = 200 } = call.acknowledgement;
  if (isResultTaken(call)) return 'delivered';
  if (call.isSilent) return 'silent';
  if (status !== 200) return 'refused';
  if (call.lost !== null) return 'undelivered';
  const last = call.deliveries.filter(isDelivered).map(typeOfDelivery).at(-1);
  return isQuestion({ type: last }) && call.awaits !== null ? 'asking' : 'waiting';
}

export class ToolCalls {
  readonly #calls = new Map<string, ToolCall>();

  static of(events: Iterable<Event>): ToolCalls {
    const calls = new ToolCalls();
    for (const event of events) calls.apply(event);
    return calls;
  }

  apply(event: Event): void {
    for (const key of event.calls ?? []) {
      const next = stepToolCall(key, this.#calls.get(key), event);
      if (next) this.#calls.set(key, next);
    }
  }

  get(key: string): ToolCall | undefined {
    return this.#calls.get(key);
  }

  get list(): readonly ToolCall[] {
    return [...this.#calls.values()];
  }
}
