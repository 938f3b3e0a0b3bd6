import type { Fact } from '../../events/events.js';
import type { ScriptCall, SessionScript, SessionTool } from '../../fixtures/session-script.js';
import { fillTemplates } from '../../fixtures/template.js';
import { isTerminal, type SessionStatus, type SettledCall } from '../../protocol/callbacks.js';
import { ACTIVE_STATE_CHANGE, type SessionEvent } from '../../protocol/session.js';
import { isRecord } from '../../util/json-diagnosis.js';

/** A call that the agent waits for, or waited for. */
export interface PendingCall {
  /** Its id, or `#1`, `#2` … where that is null. */
  readonly key: string;
  readonly tool_name: string;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly id: string | null;
}

/** A call with the answer that was taken for it. */
export interface Settled {
  readonly call: PendingCall;
  readonly answer: SettledCall;
}

/** A session as the platform keeps it. Never changed: each step makes another one. */
export interface Session {
  readonly id: string;
  readonly script: SessionScript;
  readonly tools: readonly SessionTool[];
  /** What it was created with. */
  readonly request: unknown;
  /** RFC 3339, as all times here. */
  readonly createdAt: string;
  readonly startedAt: string | null;
  readonly finishedAt: string | null;
  /** Where it is, paused or not. */
  readonly phase: SessionStatus;
  readonly isPaused: boolean;
  /** The round that is being played, from 0; -1 before the first. */
  readonly round: number;
  readonly pending: readonly PendingCall[];
  readonly settled: readonly Settled[];
  /** Calls that nobody will answer any more: the session ended before. */
  readonly abandoned: readonly PendingCall[];
  /** The place of each is its index. */
  readonly events: readonly SessionEvent[];
  /** Of all of them. */
  readonly eventBytes: number;
  /** Of what it was created with, and of the results that were taken for its calls. */
  readonly postedBytes: number;
  readonly answer: unknown;
  readonly error: string | null;
}

/** What a step made of a session, and what there is to tell of it. */
export interface Stepped {
  readonly session: Session;
  readonly facts: readonly Fact[];
}

interface Creation {
  readonly id: string;
  readonly script: SessionScript;
  readonly tools: readonly SessionTool[];
  readonly request: unknown;
  /** Bytes of `request`; 0 unless told. */
  readonly size?: number;
  readonly at: string;
}

/** A session that is there, and has not begun. */
export function createSession({ id, script, tools, request, size = 0, at }: Creation): Session {
  return {
    id,
    script,
    tools,
    request,
    createdAt: at,
    startedAt: null,
    finishedAt: null,
    phase: 'pending',
    isPaused: false,
    round: -1,
    pending: [],
    settled: [],
    abandoned: [],
    events: [],
    eventBytes: 0,
    postedBytes: size,
    answer: null,
    error: null,
  };
}

/** What clients are told. */
export function statusOf({ phase, isPaused }: Pick<Session, 'phase' | 'isPaused'>): SessionStatus {
  return isPaused ? 'paused' : phase;
}

/** What clients may put into one session: each event is kept as long as the platform runs. */
const MOST = { events: 10_000, bytes: 16 * 1024 * 1024 };

type Spent = Pick<Session, 'events' | 'eventBytes'>;

/** Bytes of an event, as it is sent. */
export function bytesOf(data: SessionEvent['data']): number {
  return Buffer.byteLength(JSON.stringify(data));
}

/** Whether a client may add so much. What the agent does by its script is bounded by that, and always has room. */
export function hasRoom(
  { events, eventBytes }: Spent,
  more: { readonly events: number; readonly bytes: number },
): boolean {
  return events.length + more.events <= MOST.events && eventBytes + more.bytes <= MOST.bytes;
}

/** A session with one more event, which is counted. */
export function withEvent(session: Session, type: string, data: SessionEvent['data'], at: string): Session {
  const events = [...session.events, { type, data, timestamp: at }];
  return { ...session, events, eventBytes: session.eventBytes + bytesOf(data) };
}

/**
 * As {@link withEvent}: which state its agent is in, and while it waits, for which calls. The latest one counts (platforms). A pause is
 * no state: clients would take it for an empty list, and the calls after it for new ones.
 */
export function withState(session: Session, at: string): Session {
  const { phase: state } = session;
  const isWaiting = state === 'awaiting_tool_results';
  const data = { state, ...(isWaiting && { pending_tool_calls: session.pending.map(onWire) }) };
  return withEvent(session, ACTIVE_STATE_CHANGE, data, at);
}

/** A pending call as clients see it, and echo it. */
function onWire({ tool_name, args, id }: PendingCall) {
  return { tool_name, ...(args && { args }), id };
}

export function statusFact(session: Session): Fact {
  const { id: thread, error, answer } = session;
  return {
    kind: 'session',
    status: statusOf(session),
    thread,
    ...(error !== null && { error }),
    ...(answer !== null && { answer }),
  };
}

export function awaitingFact({ id: thread, round, pending }: Session): Fact {
  return {
    kind: 'awaiting',
    round,
    pending: pending.map(call => ({ key: call.key, ...onWire(call) })),
    calls: pending.map(({ key }) => key),
    thread,
  };
}

/** The agent begins: from pending to its first round. @param at RFC 3339. */
export function start(session: Session, at: string): Stepped {
  const running = withEvent({ ...session, phase: 'running', startedAt: at }, 'AgentStartedEvent', {}, at);
  return goOn(running, at);
}

/**
 * The agent runs on, as far as it comes: to the calls of the next round, or to the end. One that waits, is paused or at its end
 * stays as it is.
 */
export function goOn(session: Session, at: string): Stepped {
  if (session.isPaused || session.phase !== 'running') return { session, facts: [] };
  const running = withState(session, at);
  const round = session.script.rounds[session.round + 1];
  const next = round ? call(running, round, at) : end(running, at);
  return { session: next.session, facts: [statusFact(running), ...next.facts] };
}

function call(session: Session, round: readonly ScriptCall[], at: string): Stepped {
  const filled = round.map(each => filledCall(each, session));
  const calling: Session = {
    ...session,
    phase: 'awaiting_tool_results',
    round: session.round + 1,
    pending: filled.map(({ call }) => call),
  };
  const facts = [statusFact(calling), awaitingFact(calling), ...filled.flatMap(({ facts }) => facts)];
  return { session: withState(calling, at), facts };
}

/** The agent says its answer, and the session ends as the script says. */
export function end(session: Session, at: string): Stepped {
  const { script } = session;
  const { value: answer, missing } = fillTemplates(script.answer, { results: resultsOf(session) });
  const said = withEvent(session, 'AgentEvent', { kind: 'answer_event', answer }, at);
  const ended = ending({ ...(answer === null ? session : said), answer }, script.end, at);
  return { session: ended.session, facts: [...missingFacts(session.id, missing), ...ended.facts] };
}

/** The session comes to a status at which clients wait no longer. What was pending, nobody will answer. */
export function ending(session: Session, phase: Session['phase'], at: string): Stepped {
  const isOver = isTerminal(phase);
  const ended: Session = {
    ...session,
    phase,
    isPaused: false,
    pending: [],
    abandoned: [...session.abandoned, ...session.pending],
    finishedAt: isOver ? at : null,
    error: phase === 'failed' ? 'The agent failed, as its script says.' : null,
  };
  const told = isOver
    ? withEvent(ended, 'AgentCompletionEvent', { reason: REASONS[phase] ?? phase }, at)
    : withState(ended, at);
  return { session: told, facts: [statusFact(told)] };
}

const REASONS: Readonly<Record<string, string>> = { completed: 'finished' };

function filledCall(
  { key, tool_name, args, id }: ScriptCall,
  session: Session,
): { readonly call: PendingCall; readonly facts: readonly Fact[] } {
  if (!args) return { call: { key, tool_name, id }, facts: [] };
  const { value, missing } = fillTemplates(args, { results: resultsOf(session) });
  const call = { key, tool_name, id, args: isRecord(value) ? value : args };
  return { call, facts: missingFacts(session.id, missing, key) };
}

/** What a template cannot have: a call that failed, or whose result was left out, has none. */
function missingFacts(thread: string, missing: readonly string[], key?: string): Fact[] {
  return missing.map(path => ({
    kind: 'warned',
    message: `there is no {{${path}}}: it is null here, or empty in a text`,
    thread,
    ...(key !== undefined && { calls: [key] }),
  }));
}

/** By key: undefined for a call that failed, or whose result was left out. Not by assignment: a key may be `__proto__` (threats, row 19). */
function resultsOf({ settled }: Session): Record<string, unknown> {
  return Object.fromEntries(
    settled.map(({ call, answer }) => [call.key, answer.kind === 'tool_result' ? answer.result : undefined]),
  );
}
