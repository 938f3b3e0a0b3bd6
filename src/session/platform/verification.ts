import type { FindingsCollector } from '../../exchange/verification/findings.js';
import type {
  SessionProblem,
  SessionVerificationReport,
} from '../../exchange/verification/session-report.js';
import { unexpectedIn } from './expectations.js';
import type { Session, Settled } from './state/session.js';

/** Whether sessions went as their script has it. @param refused posts that were not accepted */
export function verificationOf(
  sessions: readonly Session[],
  refused: FindingsCollector<SessionProblem>,
): SessionVerificationReport {
  const problems = refused.with(sessions.flatMap(problemsOf));
  const answered = sum(sessions, ({ settled }) => settled.length);
  const open = sum(sessions, session => unansweredIn(session).length);
  return { ok: problems.count === 0, sessions: sessions.length, calls: answered + open, answered, problems };
}

function problemsOf(session: Session): SessionProblem[] {
  const { id, script, round } = session;
  const unanswered = unansweredIn(session).map(
    ({ key, tool_name }): SessionProblem => ({ kind: 'unanswered', session: id, call: key, tool_name }),
  );
  const left = script.rounds.length - 1 - round;
  const unreached: SessionProblem[] =
    left > 0 ? [{ kind: 'unreached', session: id, rounds: left, of: script.rounds.length }] : [];
  return [...session.settled.flatMap(settled => otherwiseIn(session, settled)), ...unanswered, ...unreached];
}

function unansweredIn({ pending, abandoned }: Session): Session['pending'] {
  return [...abandoned, ...pending];
}

function otherwiseIn(session: Session, settled: Settled): SessionProblem[] {
  const { key, tool_name } = settled.call;
  return unexpectedIn(session, settled).map(each => ({
    kind: 'unexpected',
    session: session.id,
    call: key,
    tool_name,
    ...each,
  }));
}

function sum(sessions: readonly Session[], count: (session: Session) => number): number {
  return sessions.reduce((total, session) => total + count(session), 0);
}
