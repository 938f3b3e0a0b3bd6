import { isSuccess } from '../protocol/http-status.js';
import type { JudgedOutcome } from '../protocol/outcome.js';
import { isTerminal } from '../protocol/session.js';
import { BoundedStore, RecentMap } from '../util/collections.js';
import { LIMITS } from '../util/limits.js';
import { compactJson } from '../util/values.js';
import {
  type Answerer,
  type Body,
  type EndEvent,
  type Event,
  type EventOf,
  ignored,
  type PendingCall,
  type RequestEvent,
} from './events.js';
import { endOf, type SentRequest } from './round-trips.js';

interface CallAnswer {
  readonly at: number;
  readonly by: Answerer;
  /** A `tool_result` or an `error_event`; null if its bytes are unknown. */
  readonly body: Body | null;
  /** The differences from the answer that the platform's script expects. */
  readonly unexpected: readonly string[];
}

/** A call that an agent session waits for, or waited for. */
export interface SessionCall {
  readonly key: string;
  readonly tool: string;
  readonly args: unknown;
  readonly id: string | null;
  readonly round: number;
  readonly askedAt: number;
  readonly answer: CallAnswer | null;
  /** The outcome if this client ended the call; the protocol cannot express it. */
  readonly ours: JudgedOutcome | null;
  readonly post: SentRequest | null;
  readonly posts: number;
  /** Whether a post of its answer failed without a response; it may have arrived. */
  readonly wasLost: boolean;
  /** Whether the session ended while the call was pending. */
  readonly isAbandoned: boolean;
  readonly warnings: readonly string[];
  /** When the platform accepted its answer; null if unknown. */
  readonly takenAt: number | null;
  /** The size of its arguments and its answer, in bytes. */
  readonly size: number;
}

interface StatusChange {
  readonly status: string;
  readonly at: number;
}

/** One agent session: the value that events are folded into. */
export interface Session {
  readonly id: string;
  readonly beganAt: number;
  /** The latest change; null until then. */
  readonly status: StatusChange | null;
  readonly error: string | null;
  /** The agent's final answer; null until then. */
  readonly answer: { readonly value: unknown } | null;
  /** The number of rounds that have begun. */
  readonly rounds: number;
  /** By key, oldest first; beyond a limit, old ones are dropped. */
  readonly calls: ReadonlyMap<string, SessionCall>;
  readonly pending: ReadonlySet<string>;
  readonly forgotten: number;
  readonly size: number;
}

/**
 * `pending`: without an answer; `answered`: the answer is ready; `posting`: it is being sent; `taken`: the platform accepted it;
 * `refused`: the platform refused it; `unwanted`: the session ended without it; `gone`: it was settled by another answer.
 */
export type SessionCallState = 'pending' | 'answered' | 'posting' | 'taken' | 'refused' | 'unwanted' | 'gone';

export function sessionCallState(session: Session, call: SessionCall): SessionCallState {
  const { post, answer, takenAt, wasLost, isAbandoned, key } = call;
  if (takenAt !== null) return 'taken';
  if (post?.status === 409) return 'unwanted';
  if (post && post.endedAt === undefined) return 'posting';
  if (!session.pending.has(key)) return wasLost ? 'taken' : isAbandoned ? 'unwanted' : 'gone';
  if (post?.status !== undefined && post.status !== 429) return 'refused';
  return answer ? 'answered' : 'pending';
}

export function statusOf({ status }: Session): string | null {
  return status?.status ?? null;
}

/** A paused session waits for the same calls as before. */
const WAITING: ReadonlySet<string> = new Set(['awaiting_tool_results', 'paused']);

function beginSession(id: string, { at }: Event): Session {
  return {
    id,
    beganAt: at,
    status: null,
    error: null,
    answer: null,
    rounds: 0,
    calls: new Map(),
    pending: new Set(),
    forgotten: 0,
    size: 0,
  };
}

/** Folds one event into a session. Pure. @param postKeys keys of the calls in a request, or in the request that ended */
function step(session: Session, event: Event, postKeys: readonly string[] = []): Session {
  switch (event.kind) {
    case 'session':
      return withStatus(session, event);
    case 'awaiting':
      return withPending(session, event);
    case 'answered':
      return withCalls(session, event.calls, call => withAnswer(call, event));
    case 'denied': {
      const { tool, reason } = event;
      return withCalls(session, event.calls, call => ({
        ...call,
        ours: { type: 'denied', tool, reason, basis: 'ours' },
      }));
    }
    case 'expired': {
      if (event.what !== 'timeout') return session;
      const ours = { type: 'timeout', durationMs: event.afterMs, basis: 'ours' } as const;
      return withCalls(session, event.calls, call => ({ ...call, ours }));
    }
    case 'warned':
      return withCalls(session, event.calls, call => ({
        ...call,
        warnings: [...call.warnings, event.message].slice(-LIMITS.eventsOfCall.value),
      }));
    case 'request': {
      const { leg, at } = event;
      return withCalls(session, postKeys, call => ({ ...call, post: { leg, at }, posts: call.posts + 1 }));
    }
    case 'response':
    case 'broken':
      return withCalls(session, postKeys, call => afterPost(call, event));
    default:
      ignored<
        'expected' | 'loaded' | 'decided' | 'matched' | 'shaped' | 'planned' | 'dropped' | 'driver' | 'exited'
      >(event);
      return session;
  }
}

function withStatus(session: Session, { status, at, error, answer }: EventOf<'session'>): Session {
  const isNew = statusOf(session) !== status;
  const ended = isTerminal(status)
    ? withCalls(session, session.pending, call => ({ ...call, isAbandoned: true }))
    : session;
  return {
    ...ended,
    pending: WAITING.has(status) ? session.pending : new Set(),
    status: isNew ? { status, at } : session.status,
    error: error ?? session.error,
    answer: answer === undefined ? session.answer : { value: answer },
  };
}

/** The list is published again as calls settle: another round begins if all of its calls are new. */
function withPending(session: Session, { pending, round, at }: EventOf<'awaiting'>): Session {
  const unknown = pending.filter(({ key }) => !session.calls.has(key));
  const isNext = unknown.length > 0 && pending.every(({ key }) => !session.pending.has(key));
  const rounds = round === undefined ? session.rounds + Number(isNext) : Math.max(session.rounds, round + 1);
  const calls = new Map(session.calls);
  let { size } = session;
  for (const each of unknown) {
    const call = newCall(each, Math.max(0, rounds - 1), at);
    calls.set(call.key, call);
    size += call.size;
  }
  return { ...session, rounds, calls, pending: new Set(pending.map(({ key }) => key)), size };
}

function newCall({ key, tool_name, args, id }: PendingCall, round: number, askedAt: number): SessionCall {
  return {
    key,
    tool: tool_name,
    args,
    id,
    round,
    askedAt,
    answer: null,
    ours: null,
    post: null,
    posts: 0,
    wasLost: false,
    isAbandoned: false,
    warnings: [],
    takenAt: null,
    size: (compactJson(args) ?? '').length,
  };
}

/** The latest answer counts until the platform has taken one. */
function withAnswer(call: SessionCall, event: EventOf<'answered'>): SessionCall {
  const { at, by, body = null, unexpected = [] } = event;
  if (call.takenAt !== null && call.answer !== null) return call;
  return {
    ...call,
    size: call.size - (call.answer?.body?.size ?? 0) + (body?.size ?? 0),
    answer: { at, by, body, unexpected },
    takenAt: call.takenAt ?? (by === 'platform' ? at : null),
  };
}

/** The end of a post; the call may wait for a later one. */
function afterPost(call: SessionCall, event: EndEvent): SessionCall {
  const isResponse = event.kind === 'response';
  const isTaken = isResponse && isSuccess(event.status);
  return {
    ...call,
    post: call.post?.leg === event.leg ? { ...call.post, ...endOf(event) } : call.post,
    wasLost: call.wasLost || !isResponse,
    takenAt: call.takenAt ?? (isTaken ? event.at : null),
  };
}

function withCalls(
  session: Session,
  keys: Iterable<string> = [],
  change: (call: SessionCall) => SessionCall,
): Session {
  const known = [...keys].flatMap(key => session.calls.get(key) ?? []);
  if (known.length === 0) return session;
  const calls = new Map(session.calls);
  let { size } = session;
  for (const call of known) {
    const changed = change(call);
    calls.set(call.key, changed);
    size += changed.size - call.size;
  }
  return { ...session, calls, size };
}

/** The number of calls of a session, the bytes of its calls and of all sessions, and the number of sessions. */
interface SessionLimits {
  readonly calls: number;
  readonly bytes: number;
  readonly sessions: number;
}

const DEFAULT_LIMITS: SessionLimits = {
  calls: LIMITS.eventsOfCall.value,
  bytes: LIMITS.keptBytes.value,
  sessions: LIMITS.callsKept.value,
};

/** Drops the oldest calls of a session beyond the limits, down to half of them; pending calls stay. */
function withoutOldCalls(session: Session, max: SessionLimits): Session {
  if (session.calls.size <= max.calls && session.size <= max.bytes) return session;
  const calls = new Map(session.calls);
  let { size } = session;
  for (const [key, call] of session.calls) {
    if (calls.size <= max.calls / 2 && size <= max.bytes / 2) break;
    if (session.pending.has(key)) continue;
    calls.delete(key);
    size -= call.size;
  }
  return { ...session, calls, size, forgotten: session.forgotten + session.calls.size - calls.size };
}

/** A request of the session API that waits for its response, or has just got it. */
export type SessionRequest = Pick<
  RequestEvent,
  'leg' | 'purpose' | 'method' | 'url' | 'at' | 'attempt' | 'thread' | 'calls'
> & {
  /** The type of the event in a webhook. */
  readonly type?: string | undefined;
};

/** All agent sessions in a list of events, in bounded memory. Sessions are values, replaced as they change; the index is mutable. */
export class Sessions {
  readonly #limits: SessionLimits;
  readonly #byId: BoundedStore<string, Session>;
  readonly #requests = new RecentMap<string, SessionRequest>(LIMITS.eventsOfCall.value);
  readonly #warnings: string[] = [];
  /** The leg of the latest event, if that ended a request. */
  #ended: string | null = null;

  constructor(limits: Partial<SessionLimits> = {}) {
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    this.#byId = new BoundedStore({ count: this.#limits.sessions, size: this.#limits.bytes });
  }

  apply(event: Event): void {
    if (this.#ended !== null) this.#requests.delete(this.#ended);
    this.#ended = null;
    if (event.kind === 'request') this.#onRequest(event);
    else if (event.kind === 'response' || event.kind === 'broken') this.#onEnd(event);
    else this.#step(event.thread, event);
    if (event.kind !== 'warned') return;
    this.#warnings.push(event.message);
    if (this.#warnings.length > LIMITS.eventsOfCall.value) this.#warnings.shift();
  }

  get(id: string): Session | undefined {
    return this.#byId.get(id);
  }

  get list(): readonly Session[] {
    return this.#byId.values();
  }

  get size(): number {
    return this.#byId.size;
  }

  /** The latest warnings, of any session or none. */
  get warnings(): readonly string[] {
    return this.#warnings;
  }

  /** The request on this leg, until the event after its response. */
  request(leg: string): SessionRequest | undefined {
    return this.#requests.get(leg);
  }

  #onRequest(event: RequestEvent): void {
    if (event.dialect !== 'session') return;
    const { leg, purpose, method, url, at, attempt, thread, calls = [] } = event;
    const about = thread === undefined ? {} : { thread };
    const type = purpose === 'webhook' ? (event.body?.messageType ?? undefined) : undefined;
    this.#requests.set(leg, { leg, purpose, method, url, at, attempt, calls, type, ...about });
    if (purpose === 'tool_results') this.#step(thread, event, calls);
  }

  #onEnd(event: EndEvent): void {
    const request = this.#requests.get(event.leg);
    if (!request) return;
    this.#ended = event.leg;
    if (request.purpose !== 'tool_results') return;
    const keys = new Set([...(request.calls ?? []), ...(event.calls ?? [])]);
    this.#step(request.thread ?? event.thread, event, [...keys]);
  }

  #step(id: string | undefined, event: Event, postKeys?: readonly string[]): void {
    if (id === undefined) return;
    const isBeginning = event.kind === 'session' || event.kind === 'awaiting';
    const session = this.#byId.get(id) ?? (isBeginning ? beginSession(id, event) : undefined);
    if (!session) return;
    const next = withoutOldCalls(step(session, event, postKeys), this.#limits);
    if (next !== session || isBeginning) this.#byId.set(id, next, next.size);
  }
}
