import { type Addressee, type Invocation, readInvocation } from '../protocol/read-invocation.js';
import { isRecord } from '../util/json-diagnosis.js';
import type { Content } from './content.js';
import { type Event, isDirect, type RequestEvent } from './events.js';

/** One POST of a callback. `status` or `broken` once it is known what became of it. Times in ms since the start. */
export interface DeliveryAttempt {
  readonly leg: string;
  readonly at: number;
  readonly endedAt?: number;
  readonly status?: number;
  readonly broken?: string;
}

/** One callback to the runtime, with its attempts; or what a client that is not called back was answered. */
export interface CallbackDelivery {
  /** Where its bytes do not say it. */
  readonly type?: string;
  readonly url: string;
  readonly body: Content | null;
  readonly attempts: readonly DeliveryAttempt[];
}

/** The first attempt begins a delivery; the others are of the last one with the same bytes: several may be on their way. */
function withAttempt(
  deliveries: readonly CallbackDelivery[],
  event: RequestEvent,
): readonly CallbackDelivery[] {
  const { leg, at, url, body = null } = event;
  const index = event.attempt === 1 ? -1 : deliveries.findLastIndex(each => isSame(each.body, body));
  const known = deliveries[index];
  if (!known) return [...deliveries, { url, body, attempts: [{ leg, at }] }];
  return deliveries.with(index, { ...known, attempts: [...known.attempts, { leg, at }] });
}

export function isSame(one: Content | null, other: Content | null): boolean {
  return one === other || (one?.size === other?.size && one?.sha256 === other?.sha256);
}

export function isDelivered({ attempts }: CallbackDelivery): boolean {
  return attempts.some(({ status = 0 }) => status >= 200 && status < 300);
}

/** The `type` of a callback; null where its bytes are no message (a fault may want that). */
export function typeOfDelivery({ type, body }: CallbackDelivery): string | null {
  return type ?? typeOfMessage(body);
}

/** The `type` of a message; null if the body is not a message. */
export function typeOfMessage(body: Content | null): string | null {
  const value = body?.json.ok ? body.json.value : null;
  return isRecord(value) && typeof value['type'] === 'string' ? value['type'] : null;
}

/** What only a person can do. */
type Awaits = 'fire' | 'choice' | 'consent';

/** One invocation as the tool sees it, and all that it said. Times in ms since the start. */
export interface ToolCall {
  readonly key: string;
  /** What came; null where it was malformed. */
  readonly invocation: Invocation | null;
  /** Whom it names, malformed or not; null where not even that could be read. */
  readonly addressee: Addressee | null;
  readonly receivedAt: number;
  /** How often the runtime sent it. */
  readonly arrivals: number;
  /** Answered in the response, as in MCP: without callbacks and acknowledgement. */
  readonly isDirect: boolean;
  readonly acknowledgement: { readonly leg: string; readonly status?: number; readonly at?: number };
  /** The fixture or handler that answers; null where none does. */
  readonly answeredBy: string | null;
  readonly nearest?: NonNullable<Extract<Event, { kind: 'matched' }>['nearest']>;
  readonly isCancelled: boolean;
  /** The user action that the call waits for; null if none. */
  readonly awaits: Awaits | null;
  /** No callback at all was meant. */
  readonly isSilent: boolean;
  readonly deliveries: readonly CallbackDelivery[];
  /** How many earlier callbacks are not remembered any more. */
  readonly forgotten: number;
  /** What was done on purpose that a good tool would not do: faults, silence, a rate limit. */
  readonly plans: readonly string[];
  /** What people chose and granted. */
  readonly decisions: readonly Extract<Event, { kind: 'decided' }>[];
  /** Why callbacks were given up. */
  readonly dropped: readonly string[];
  /** Why its result was given up, or what came after that; null where none was. */
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
  const next = noted(call, event);
  const awaits = awaited(call, event);
  return awaits === call.awaits ? next : { ...next, awaits };
}

function awaited(call: ToolCall, event: Event): Awaits | null {
  switch (event.kind) {
    case 'request':
      return event.purpose !== 'callback' || isAgain(call, event) ? call.awaits : questionIn(event);
    case 'planned':
      return event.plan === 'demand' ? 'fire' : null;
    case 'dropped':
      return event.what === 'event' ? null : call.awaits;
    case 'decided':
    case 'expired':
      return null;
    case 'response':
    case 'broken':
      return isAnswer(call, event) ? null : call.awaits;
    default:
      return call.awaits;
  }
}

/** Whether it is a retry, or a callback that the user sent again manually (without a turn). */
function isAgain({ deliveries }: ToolCall, { attempt, turn, body }: RequestEvent): boolean {
  return attempt > 1 || (turn === undefined && deliveries.some(each => isSame(each.body, body ?? null)));
}

function questionIn({ body }: RequestEvent): Awaits | null {
  const type = typeOfMessage(body ?? null);
  return type === 'user_choice' ? 'choice' : type === 'oauth' ? 'consent' : null;
}

function noted(call: ToolCall, event: Event): ToolCall {
  switch (event.kind) {
    case 'request':
      if (event.purpose === 'callback') return { ...call, deliveries: withAttempt(call.deliveries, event) };
      return event.purpose === 'cancel' ? { ...call, isCancelled: true } : call;
    case 'response':
      return ended(call, event, { endedAt: event.at, status: event.status });
    case 'broken':
      return ended(call, event, { endedAt: event.at, broken: event.code });
    case 'matched':
      return { ...call, answeredBy: event.fixture, ...(event.nearest && { nearest: event.nearest }) };
    case 'planned':
      if (event.plan === 'demand') return call;
      return {
        ...call,
        plans: [...call.plans, event.plan],
        isSilent: call.isSilent || event.plan === 'silence',
      };
    case 'decided':
      return { ...call, decisions: [...call.decisions, event] };
    case 'dropped':
      return {
        ...call,
        dropped: [...call.dropped, event.why],
        lost: isLoss(call, event) ? event.why : call.lost,
      };
    case 'warned':
      return { ...call, warnings: [...call.warnings, event.message] };
    default:
      return call;
  }
}

type EndEvent = Extract<Event, { kind: 'response' | 'broken' }>;

function isAnswer({ isDirect, acknowledgement }: ToolCall, { leg }: EndEvent): boolean {
  return isDirect && acknowledgement.leg === leg;
}

function answered(call: ToolCall, event: EndEvent): ToolCall {
  if (event.kind === 'broken') return { ...call, lost: call.lost ?? event.code };
  const { leg, at: endedAt, status, body = null } = event;
  const attempt = { leg, at: call.receivedAt, endedAt, status };
  const answer = { type: 'tool_result', url: '', body, attempts: [attempt] };
  return {
    ...call,
    acknowledgement: { leg, status, at: endedAt },
    deliveries: [...call.deliveries, answer],
  };
}

/** More is to come after these. What cannot be read, or is of another type, was to be the result: a fault may have done that. */
const ON_THE_WAY = new Set(['view_update', 'subscription_event', 'user_choice', 'oauth']);

function isLoss(call: ToolCall, { what, leg, type }: Extract<Event, { kind: 'dropped' }>): boolean {
  if (what !== 'callback') return false;
  const message = type ?? typeOfLeg(call, leg) ?? '';
  return !ON_THE_WAY.has(message) || isResultTaken(call);
}

function typeOfLeg({ deliveries }: ToolCall, leg: string | undefined): string | null {
  const delivery = deliveries.find(({ attempts }) => attempts.some(attempt => attempt.leg === leg));
  return delivery ? typeOfDelivery(delivery) : null;
}

function isResultTaken({ deliveries }: ToolCall): boolean {
  return deliveries.some(each => isDelivered(each) && typeOfDelivery(each) === 'tool_result');
}

function ended(call: ToolCall, event: EndEvent, change: Partial<DeliveryAttempt>): ToolCall {
  if (isAnswer(call, event)) return answered(call, event);
  const { leg } = event;
  if (call.acknowledgement.leg === leg) {
    const { status, endedAt: at = 0 } = change;
    return status === undefined ? call : { ...call, acknowledgement: { leg, status, at } };
  }
  const attempts = (all: readonly DeliveryAttempt[]) =>
    all.map(attempt => (attempt.leg === leg ? { ...attempt, ...change } : attempt));
  const next = {
    ...call,
    deliveries: call.deliveries.map(each => ({ ...each, attempts: attempts(each.attempts) })),
  };
  return call.lost !== null && !isResultTaken(call) && isResultTaken(next) ? { ...next, lost: null } : next;
}

/**
 * `waiting`: its result is still to come; `asking`: it is a person's turn; `delivered`: the runtime took the result;
 * `undelivered`: it was given up; `silent`: none was meant; `refused`: the invocation was not accepted.
 */
export type ToolCallState = 'waiting' | 'asking' | 'delivered' | 'undelivered' | 'silent' | 'refused';

export function toolCallState(call: ToolCall): ToolCallState {
  const { status = 200 } = call.acknowledgement;
  if (isResultTaken(call)) return 'delivered';
  if (call.isSilent) return 'silent';
  if (status !== 200) return 'refused';
  if (call.lost !== null) return 'undelivered';
  const last = call.deliveries.filter(isDelivered).map(typeOfDelivery).at(-1);
  const isQuestion = last === 'oauth' || last === 'user_choice';
  return isQuestion && call.awaits !== null ? 'asking' : 'waiting';
}
