import { isTerminal } from '../protocol/callbacks.js';
import type { JudgedOutcome } from '../protocol/outcome.js';
import { BoundedStore } from '../util/bounded-store.js';
import { compactJson, RecentMap } from '../util/json-diagnosis.js';
import type { Content } from './content.js';
import type { Event, RequestEvent } from './events.js';

/** One POST of results, as far as it concerns a call. Times in ms since the start. */
interface ResultsPost {
  readonly leg: string;
  readonly at: number;
  readonly endedAt?: number;
  readonly status?: number;
  /** The error code if the connection broke; the post may have arrived. */
  readonly broken?: string;
}

/** What the agent is given for a call. */
interface CallAnswer {
  readonly at: number;
  readonly by: Extract<Event, { kind: 'answered' }>['by'];
  /** A `tool_result` or an `error_event`; null where its bytes are not known. */
  readonly body: Content | null;
  /** How it is not as the platform's script expects it; nothing where it is, or nothing was expected. */
  readonly unexpected: readonly string[];
}

/** A call that an agent session waits for, or did. */
export interface SessionCall {
  readonly key: string;
  readonly tool: string;
  /** JSON, as the platform wrote it. */
  readonly args: unknown;
  readonly id: string | null;
  /** From 0. */
  readonly round: number;
  readonly askedAt: number;
  readonly answer: CallAnswer | null;
  /** Why no tool was asked to the end, where that is our doing: the wire has no word for it. */
  readonly ours: JudgedOutcome | null;
  /** The latest. */
  readonly post: ResultsPost | null;
  readonly posts: number;
  /** A post of it broke, and may have arrived all the same. */
  readonly wasLost: boolean;
  /** The session ended while it waited for it. */
  readonly isAbandoned: boolean;
  /** What is odd about it; the latest. */
  readonly warnings: readonly string[];
  /** When the platform took its answer; null where that is not known. */
  readonly takenAt: number | null;
  /** Bytes of its arguments and its answer. */
  readonly size: number;
}

/** What a status was, and since when. */
interface StatusChange {
  readonly status: string;
  readonly at: number;
}

/** One agent session and what followed: the value that `stepSession` folds events into. */
export interface Session {
  readonly id: string;
  readonly beganAt: number;
  /** Oldest first; where there are very many, the latest. */
  readonly statuses: readonly StatusChange[];
  readonly error: string | null;
  /** What the agent says in the end; null until it does. */
  readonly answer: { readonly value: unknown } | null;
  /** How often it began to wait for calls. */
  readonly rounds: number;
  /** By key, in the order in which they were asked. Where there are very many, some of the oldest are forgotten. */
  readonly calls: ReadonlyMap<string, SessionCall>;
  /** Keys of the calls that it waits for. */
  readonly pending: ReadonlySet<string>;
  /** How many calls are not kept any more. */
  readonly forgotten: number;
  /** Bytes of all that is kept of its calls. */
  readonly size: number;
}

/**
 * `pending`: nobody has answered it yet; `answered`: the answer is ready; `posting`: it is on its way; `taken`: the platform has it;
 * `refused`: the platform did not take it; `unwanted`: the session ended without it; `gone`: it was settled, and not by this answer.
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

/** Null where no status was ever told. */
export function statusOf({ statuses }: Session): string | null {
  return statuses.at(-1)?.status ?? null;
}

interface SessionLimits {
  /** Of one session. */
  readonly calls: number;
  /** Of all that is kept of its calls. */
  readonly bytes: number;
}

/**
 * The session without its oldest calls, where there are too many: down to half of what is allowed, so that it is not done each time.
 * What it waits for stays.
 */
function withoutOldCalls(session: Session, most: SessionLimits): Session {
  if (session.calls.size <= most.calls && session.size <= most.bytes) return session;
  const calls = new Map(session.calls);
  let { size } = session;
  for (const [key, call] of session.calls) {
    if (calls.size <= most.calls / 2 && size <= most.bytes / 2) break;
    if (session.pending.has(key)) continue;
    calls.delete(key);
    size -= call.size;
  }
  return { ...session, calls, size, forgotten: session.forgotten + session.calls.size - calls.size };
}

type SessionEvent = Extract<Event, { kind: 'session' | 'awaiting' }>;
type Pending = Extract<Event, { kind: 'awaiting' }>['pending'][number];

/** Of changes of status this many are kept. */
const MOST_STATUSES = 100;

/** A session that is paused waits for the same calls as before. */
const WAITING: ReadonlySet<string> = new Set(['awaiting_tool_results', 'paused']);
const NOTHING: ReadonlySet<string> = new Set();

function beginSession(id: string, { at }: Pick<Event, 'at'>): Session {
  return {
    id,
    beganAt: at,
    statuses: [],
    error: null,
    answer: null,
    rounds: 0,
    calls: new Map(),
    pending: new Set(),
    forgotten: 0,
    size: 0,
  };
}

/** What a session is after one more event that tells how it stands. Pure. */
function stepSession(session: Session, event: SessionEvent): Session {
  return event.kind === 'session' ? withStatus(session, event) : withPending(session, event);
}

function withStatus(session: Session, event: Extract<Event, { kind: 'session' }>): Session {
  const { status, at, error, answer } = event;
  const isNew = session.statuses.at(-1)?.status !== status;
  return {
    ...session,
    pending: WAITING.has(status) ? session.pending : NOTHING,
    calls: isTerminal(status) ? abandoned(session) : session.calls,
    statuses: isNew ? [...session.statuses, { status, at }].slice(-MOST_STATUSES) : session.statuses,
    error: error ?? session.error,
    answer: answer === undefined ? session.answer : { value: answer },
  };
}

function abandoned({ calls, pending }: Session): Session['calls'] {
  const left = [...pending].flatMap(key => calls.get(key) ?? []);
  return left.length === 0
    ? calls
    : withCalls(
        calls,
        left.map(call => ({ ...call, isAbandoned: true })),
      );
}

/** The list is published again as calls settle: only one with calls that are new to us, after all others, is another round. */
function withPending(
  session: Session,
  { pending, round, at }: Extract<Event, { kind: 'awaiting' }>,
): Session {
  const unknown = pending.filter(({ key }) => !session.calls.has(key));
  const isNext = unknown.length > 0 && pending.every(({ key }) => !session.pending.has(key));
  const rounds = round === undefined ? session.rounds + Number(isNext) : Math.max(session.rounds, round + 1);
  const asked = unknown.map(each => callOf(each, Math.max(0, rounds - 1), at));
  return {
    ...session,
    rounds,
    calls: asked.length === 0 ? session.calls : withCalls(session.calls, asked),
    pending: new Set(pending.map(({ key }) => key)),
    size: session.size + asked.reduce((sum, { size }) => sum + size, 0),
  };
}

function callOf({ key, tool_name, args, id }: Pending, round: number, askedAt: number): SessionCall {
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

/** The calls, with these in the place of what they were before. */
function withCalls(
  calls: Session['calls'],
  changed: Iterable<SessionCall>,
): ReadonlyMap<string, SessionCall> {
  const all = new Map(calls);
  for (const call of changed) all.set(call.key, call);
  return all;
}

type End = Extract<Event, { kind: 'response' | 'broken' }>;

/** A pending call has its answer. Until the platform has one the latest counts; what it has taken stays. */
function withAnswers(session: Session, event: Extract<Event, { kind: 'answered' }>): Session {
  const { at, by, body = null, unexpected = [], calls = [] } = event;
  return changed(session, calls, call => {
    if (call.takenAt !== null && call.answer !== null) return call;
    const size = call.size - (call.answer?.body?.size ?? 0) + (body?.size ?? 0);
    return {
      ...call,
      size,
      answer: { at, by, body, unexpected },
      takenAt: call.takenAt ?? (by === 'platform' ? at : null),
    };
  });
}

/** A call was not made, or not waited for any longer: decided on this side. */
function withOurs(session: Session, event: Extract<Event, { kind: 'denied' | 'expired' }>): Session {
  const ours = oursOf(event);
  return ours ? changed(session, event.calls ?? [], call => ({ ...call, ours })) : session;
}

function oursOf(event: Extract<Event, { kind: 'denied' | 'expired' }>): SessionCall['ours'] {
  if (event.kind === 'denied') {
    const { tool, reason } = event;
    return { type: 'denied', tool, reason, basis: 'ours' };
  }
  return event.what === 'timeout' ? { type: 'timeout', durationMs: event.afterMs, basis: 'ours' } : null;
}

/** Of one call this many are kept. */
const STEP_CALLS_MOST_WARNINGS = 20;

function withWarning(session: Session, event: Extract<Event, { kind: 'warned' }>): Session {
  return changed(session, event.calls ?? [], call => ({
    ...call,
    warnings: [...call.warnings, event.message].slice(-STEP_CALLS_MOST_WARNINGS),
  }));
}

/** Answers are on their way to the platform. */
function withPost(session: Session, keys: readonly string[], post: ResultsPost): Session {
  return changed(session, keys, call => ({ ...call, post, posts: call.posts + 1 }));
}

/** What became of a post; where another is on its way since, the call waits for that. */
function withPostEnd(session: Session, keys: readonly string[], leg: string, event: End): Session {
  const end =
    event.kind === 'response'
      ? { endedAt: event.at, status: event.status }
      : { endedAt: event.at, broken: event.code };
  const isTaken = event.kind === 'response' && event.status >= 200 && event.status < 300;
  return changed(session, keys, call => ({
    ...call,
    post: call.post?.leg === leg ? { ...call.post, ...end } : call.post,
    wasLost: call.wasLost || event.kind === 'broken',
    takenAt: call.takenAt ?? (isTaken ? event.at : null),
  }));
}

function changed(
  session: Session,
  keys: readonly string[],
  change: (call: SessionCall) => SessionCall,
): Session {
  const known = keys.flatMap(key => session.calls.get(key) ?? []);
  if (known.length === 0) return session;
  const calls = known.map(change);
  const grown = sizeOf(calls) - sizeOf(known);
  return { ...session, calls: withCalls(session.calls, calls), size: session.size + grown };
}

function sizeOf(calls: readonly SessionCall[]): number {
  return calls.reduce((sum, { size }) => sum + size, 0);
}

/** A request of the session API that is not answered yet, or has just been. */
export type SessionRequest = Pick<
  RequestEvent,
  'leg' | 'purpose' | 'method' | 'url' | 'at' | 'attempt' | 'thread' | 'calls'
>;

type EndEvent = Extract<Event, { kind: 'response' | 'broken' }>;

const LIMITS: SessionLimits = { calls: 1_000, bytes: 32 * 1024 * 1024 };
/** The oldest sessions go where there are more, or where all together are larger than one may be. */
const MOST_SESSIONS = 500;
/** Not answered yet. */
const MOST_REQUESTS = 2_000;
const MOST_WARNINGS = 200;

/**
 * All agent sessions that a list of events tells of, in bounded memory. Sessions are values, replaced as they change; the index around
 * them is mutable. Events of other wires are nothing to them.
 */
export class Sessions {
  readonly #limits: SessionLimits;
  readonly #byId: BoundedStore<string, Session>;
  readonly #requests = new RecentMap<string, SessionRequest>(MOST_REQUESTS);
  readonly #warnings: string[] = [];
  #told: string | null = null;

  constructor(limits: Partial<SessionLimits & { readonly sessions: number }> = {}) {
    this.#limits = { ...LIMITS, ...limits };
    this.#byId = new BoundedStore({ count: limits.sessions ?? MOST_SESSIONS, size: this.#limits.bytes });
  }

  apply(event: Event): void {
    if (this.#told !== null) this.#requests.delete(this.#told);
    this.#told = null;
    switch (event.kind) {
      case 'session':
      case 'awaiting':
        this.#change(event.thread, event, session => stepSession(session, event));
        break;
      case 'answered':
        this.#change(event.thread, null, session => withAnswers(session, event));
        break;
      case 'denied':
      case 'expired':
        this.#change(event.thread, null, session => withOurs(session, event));
        break;
      case 'request':
        this.#onRequest(event);
        break;
      case 'response':
      case 'broken':
        this.#onEnd(event);
        break;
      case 'warned':
        this.#warnings.push(event.message);
        if (this.#warnings.length > MOST_WARNINGS) this.#warnings.shift();
        this.#change(event.thread, null, session => withWarning(session, event));
    }
  }

  get(id: string): Session | undefined {
    return this.#byId.get(id);
  }

  /** Oldest first; a list of its own. */
  get list(): readonly Session[] {
    return this.#byId.values();
  }

  get size(): number {
    return this.#byId.size;
  }

  /** The latest, whatever they are about. */
  get warnings(): readonly string[] {
    return this.#warnings;
  }

  /** What was asked on this leg: until it is answered, and for as long as that is the latest event. */
  request(leg: string): SessionRequest | undefined {
    return this.#requests.get(leg);
  }

  #onRequest(event: RequestEvent): void {
    if (event.dialect !== 'session') return;
    const { leg, purpose, method, url, at, attempt, thread, calls = [] } = event;
    this.#requests.set(leg, {
      leg,
      purpose,
      method,
      url,
      at,
      attempt,
      calls,
      ...(thread !== undefined && { thread }),
    });
    if (purpose === 'tool_results')
      this.#change(thread, null, session => withPost(session, calls, { leg, at }));
  }

  #onEnd(event: EndEvent): void {
    const request = this.#requests.get(event.leg);
    if (!request) return;
    this.#told = event.leg;
    if (request.purpose !== 'tool_results') return;
    const keys = [...new Set([...(request.calls ?? []), ...(event.calls ?? [])])];
    this.#change(request.thread ?? event.thread, null, session =>
      withPostEnd(session, keys, event.leg, event),
    );
  }

  /** @param beginning the event that may be the first of its session */
  #change(id: string | undefined, beginning: Event | null, change: (session: Session) => Session): void {
    if (id === undefined) return;
    const known = this.#byId.get(id);
    const session = known ?? (beginning && beginSession(id, beginning));
    if (!session) return;
    const next = withoutOldCalls(change(session), this.#limits);
    this.#byId.set(id, next, next.size);
  }
}
