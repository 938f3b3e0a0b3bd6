import type { Exchange } from '../../exchange/exchange.js';
import type { History } from '../../exchange/history.js';
import type { Session, SessionCall } from '../../exchange/session/session.js';
import type { Sessions } from '../../exchange/session/sessions.js';

/** What is known of agent sessions, and of the calls that tools were asked for their sake: folds that have had every event. */
export interface Known {
  readonly sessions: Sessions;
  /** Of the legs to RAP tools; its exchanges have the keys of the calls. */
  readonly history?: History;
}

/** A call of a session, and the invocation that was made of it, where one was. */
export interface KnownCall {
  readonly session: Session;
  readonly call: SessionCall;
  readonly exchange?: Exchange;
}

/** The call with this key; undefined where the session has none. */
export function knownCall(
  { sessions, history }: Known,
  id: string | undefined,
  key: string,
): KnownCall | undefined {
  const session = id === undefined ? undefined : sessions.get(id);
  const call = session?.calls.get(key);
  return session && call && withExchange(session, call, history);
}

/** All calls of a session, in the order in which they were asked. */
export function knownCalls(session: Session, history?: History): KnownCall[] {
  return [...session.calls.values()].map(call => withExchange(session, call, history));
}

function withExchange(session: Session, call: SessionCall, history: History | undefined): KnownCall {
  const exchange = history?.exchanges.get(call.key);
  return { session, call, ...(exchange && { exchange }) };
}
