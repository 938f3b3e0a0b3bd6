import { isTerminal } from '../../protocol/session/status.js';
import { compactJson } from '../../text/compact-json.js';
import type { Event } from '../events.js';
import type { Session, SessionCall } from './session.js';

type SessionEvent = Extract<Event, { kind: 'session' | 'awaiting' }>;
type Pending = Extract<Event, { kind: 'awaiting' }>['pending'][number];

/** Of changes of status this many are kept. */
const MOST_STATUSES = 100;

/** A session that is paused waits for the same calls as before. */
const WAITING: ReadonlySet<string> = new Set(['awaiting_tool_results', 'paused']);
const NOTHING: ReadonlySet<string> = new Set();

/** A session of which nothing was told before. */
export function beginSession(id: string, { at }: Pick<Event, 'at'>): Session {
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
export function stepSession(session: Session, event: SessionEvent): Session {
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
export function withCalls(
  calls: Session['calls'],
  changed: Iterable<SessionCall>,
): ReadonlyMap<string, SessionCall> {
  const all = new Map(calls);
  for (const call of changed) all.set(call.key, call);
  return all;
}
