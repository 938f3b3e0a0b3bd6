import type { Fact } from '../../../exchange/events.js';
import { ACTIVE_STATE_CHANGE, type SessionEvent } from '../../../protocol/session/changes.js';
import { bytesOf } from './budget.js';
import type { PendingCall, Session } from './session.js';
import { statusOf } from './session.js';

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
export function onWire({ tool_name, args, id }: PendingCall) {
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
