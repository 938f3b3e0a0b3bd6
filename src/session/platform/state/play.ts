import type { Fact } from '../../../exchange/events.js';
import type { ScriptCall } from '../../../fixtures/session/script.js';
import { fillTemplates } from '../../../fixtures/template.js';
import { isTerminal } from '../../../protocol/session/status.js';
import { isRecord } from '../../../text/is-record.js';
import { awaitingFact, statusFact, withEvent, withState } from './publish.js';
import type { PendingCall, Session, Stepped } from './session.js';

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
