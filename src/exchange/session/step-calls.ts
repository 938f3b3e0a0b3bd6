import type { Event } from '../events.js';
import type { ResultsPost, Session, SessionCall } from './session.js';
import { withCalls } from './step-session.js';

type End = Extract<Event, { kind: 'response' | 'broken' }>;

/** A pending call has its answer. Until the platform has one the latest counts; what it has taken stays. */
export function withAnswers(session: Session, event: Extract<Event, { kind: 'answered' }>): Session {
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
export function withOurs(session: Session, event: Extract<Event, { kind: 'denied' | 'expired' }>): Session {
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
const MOST_WARNINGS = 20;

export function withWarning(session: Session, event: Extract<Event, { kind: 'warned' }>): Session {
  return changed(session, event.calls ?? [], call => ({
    ...call,
    warnings: [...call.warnings, event.message].slice(-MOST_WARNINGS),
  }));
}

/** Answers are on their way to the platform. */
export function withPost(session: Session, keys: readonly string[], post: ResultsPost): Session {
  return changed(session, keys, call => ({ ...call, post, posts: call.posts + 1 }));
}

/** What became of a post; where another is on its way since, the call waits for that. */
export function withPostEnd(session: Session, keys: readonly string[], leg: string, event: End): Session {
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
