import type { SessionEvent } from '../../protocol/session.js';
import { valueAt } from '../../util/values.js';
import { publishedCall } from './pending-call.js';
import type { Session } from './session.js';

function endingView({ error, outcome }: Session) {
  return { error: error.message, error_code: error.errorCode, outcome };
}

/** The state of a session as the API shows it. */
export function statusView(session: Session) {
  const { status, roundsBegun: steps, pending } = session;
  const usage = { steps, usage_per_model: [], subagent_session_ids: [] };
  return { status, ...endingView(session), ...usage, pending_tool_calls: pending.map(publishedCall) };
}

/** A session as the API shows it. */
export function sessionView(session: Session) {
  const { id, request, answer: latest_answer, times } = session;
  return { id, request, status: statusView(session), latest_answer, ...times };
}

/** A session in the API's list. */
export function summaryView({ id, status, request, firstMessages, times, events }: Session) {
  const agent = valueAt(request, 'agent');
  const name = typeof agent === 'string' ? agent : valueAt(agent, 'name');
  const first_message = firstMessages[0] ?? null;
  const last_activity_at = events.at(-1)?.timestamp ?? null;
  return { id, agent: name ?? null, status, first_message, ...times, last_activity_at };
}

/** The answer to a long poll. @param first_index the index of the first of these events */
export function changesView(session: Session, new_events: readonly SessionEvent[], first_index: number) {
  const { status, answer, pending, roundsBegun: steps } = session;
  const { started_at, finished_at } = session.times;
  const state = { status, started_at, finished_at, ...endingView(session) };
  const pending_tool_calls = pending.map(publishedCall);
  return { ...state, answer, metrics: { steps }, pending_tool_calls, first_index, new_events };
}
