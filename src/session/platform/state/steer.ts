import { isTerminal } from '../../../protocol/session/status.js';
import { bytesOf, hasRoom } from './budget.js';
import { end, ending, goOn } from './play.js';
import { awaitingFact, statusFact, withEvent, withState } from './publish.js';
import type { Session, Stepped } from './session.js';

const NOTHING = { facts: [] } as const;

/** The agent stops where it is. Results are still taken; it goes on once it is resumed. */
export function pause(session: Session): Stepped {
  if (session.isPaused || isTerminal(session.phase)) return { session, ...NOTHING };
  const paused = { ...session, isPaused: true };
  return { session: paused, facts: [statusFact(paused)] };
}

/** The agent picks up where it left off; one that runs is left alone. */
export function resume(session: Session, at: string): Stepped {
  if (!session.isPaused) return { session, ...NOTHING };
  const resumed = { ...session, isPaused: false };
  if (resumed.phase === 'running') return goOn(resumed, at);
  const facts = [statusFact(resumed), ...(resumed.pending.length > 0 ? [awaitingFact(resumed)] : [])];
  return { session: withState(resumed, at), facts };
}

/** The agent answers now, with what it has: no call is waited for any more. */
export function forceAnswer(session: Session, at: string): Stepped {
  if (isTerminal(session.phase) || session.phase === 'idle') return { session, ...NOTHING };
  return end({ ...session, abandoned: [...session.abandoned, ...session.pending], pending: [] }, at);
}

/** DELETE: irreversible, and the session is still there to be read. */
export function cancel(session: Session, at: string): Stepped {
  return isTerminal(session.phase) ? { session, ...NOTHING } : ending(session, 'interrupted', at);
}

/** Whether a session can be paused once more: each time it is resumed, it publishes its calls again. */
export function canPause(session: Session): boolean {
  return hasRoom(session, { events: 1, bytes: 0 });
}

export function canTake(session: Session, messages: readonly string[]): boolean {
  const bytes = messages.reduce((sum, message) => sum + bytesOf(told(message)), 0);
  return hasRoom(session, { events: messages.length, bytes });
}

/** Messages of a user: they are in the events, and resume a paused session. The script goes on as it is written. */
export function takeMessages(session: Session, messages: readonly string[], at: string): Stepped {
  const taken = messages.reduce((each, message) => withEvent(each, 'AgentEvent', told(message), at), session);
  return resume(taken, at);
}

function told(message: string) {
  return { kind: 'user_message', message };
}
