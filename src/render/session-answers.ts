import { sessionDialect } from '../dialects/session.js';
import type { Content } from '../events/content.js';
import { type Exchange, outcomeOf } from '../events/exchange.js';
import type { History } from '../events/history.js';
import type { Session, SessionCall, Sessions } from '../events/session-calls.js';
import type { JudgedOutcome } from '../protocol/outcome.js';
import { onceEach } from '../util/collections.js';
import { compactJson } from '../util/values.js';

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

/** What the agent is given for a call. */
export interface Given {
  readonly outcome: JudgedOutcome;
  /** What the model gets; null where that is not known. */
  readonly text: string | null;
}

/**
 * How a call was answered; null where it is not. An `error_event` does not say which kind of failure it was, and a `tool_result`
 * not that its success was assumed: where a tool was invoked for it, that is known from there.
 */
export function givenOf({ call, exchange }: KnownCall): Given | null {
  if (!call.answer) return null;
  const given = call.answer.body ? readOnce(call.answer.body) : UNREAD;
  const known = exchange ? outcomeOf(exchange) : call.ours;
  return known && isSaidBy(given.outcome, known) ? { ...given, outcome: known } : given;
}

/** Whether what is posted is this wire's word for an outcome: it has one for success, and one for all else. */
function isSaidBy({ type }: JudgedOutcome, known: JudgedOutcome): boolean {
  return type === (known.type === 'success' ? 'success' : 'error');
}

const UNREAD: Given = { outcome: { type: 'unknown', raw: null, basis: 'assumed' }, text: null };

/** A body may have 5 MiB. */
const readOnce = onceEach(read);

function read({ json }: Content): Given {
  if (!json.ok) return UNREAD;
  const reading = sessionDialect.read(json.value);
  if (!reading.ok) return { ...UNREAD, text: compactJson(json.value) };
  return { outcome: reading.answer.outcome, text: reading.text };
}
