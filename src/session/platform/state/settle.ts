import { Content } from '../../../exchange/content.js';
import type { Fact } from '../../../exchange/events.js';
import { unexpectedIn } from '../expectations.js';
import { goOn } from './play.js';
import { awaitingFact, withState } from './publish.js';
import type { Session, Settled, Stepped } from './session.js';

/** Pending calls have their answers: what survives is published again, and with the last one the agent runs on. */
export function settle(session: Session, answers: readonly Settled[], at: string): Stepped {
  if (answers.length === 0) return { session, facts: [] };
  const keys = new Set(answers.map(({ call }) => call.key));
  const pending = session.pending.filter(({ key }) => !keys.has(key));
  const bodies = answers.map(({ answer }) => Content.ofJson(answer));
  const postedBytes = bodies.reduce((sum, { size }) => sum + size, session.postedBytes);
  const settled: Session = { ...session, pending, settled: [...session.settled, ...answers], postedBytes };
  const answered = answers.map((answer, index) => answeredFact(session, answer, bodies[index]));
  if (pending.length > 0)
    return { session: withState(settled, at), facts: [...answered, awaitingFact(settled)] };
  const running: Session = { ...settled, phase: 'running' };
  const next = session.isPaused ? { session: withState(running, at), facts: [] } : goOn(running, at);
  return { session: next.session, facts: [...answered, ...next.facts] };
}

/** Of how an answer is not as expected this much is told. */
const MOST_UNEXPECTED = 20;

function answeredFact(session: Session, settled: Settled, body: Content | undefined): Fact {
  const { call } = settled;
  const differences = unexpectedIn(session, settled).slice(0, MOST_UNEXPECTED);
  const unexpected = differences.map(({ path, reason }) => `${path} ${reason}`);
  return {
    kind: 'answered',
    by: 'platform',
    calls: [call.key],
    thread: session.id,
    body,
    ...(unexpected.length > 0 && { unexpected }),
  };
}
