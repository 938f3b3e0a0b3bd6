import type {
  SessionProblem,
  SessionVerificationReport,
} from '../../exchange/verification/session-report.js';
import { visibleLine } from '../../text/visible.js';
import { listed } from './sentences.js';

/** For stderr: a line for each thing that went wrong, and one that sums it up. Every line is safe to print (threats, row 24). */
export function humanSessionVerification(report: SessionVerificationReport): string {
  const problems = listed(report.problems, problem => problemText(problem, report.sessions > 1));
  const verdict = report.ok ? '✓ verified' : '✗ verification failed';
  return [...problems.map(problem => `✗ ${problem}`), `${verdict}: ${summary(report)}`]
    .map(line => `${visibleLine(line)}\n`)
    .join('');
}

function problemText(problem: SessionProblem, isNamed: boolean): string {
  const where = isNamed && problem.session !== null ? ` (${problem.session})` : '';
  switch (problem.kind) {
    case 'unanswered':
      return `${problem.tool_name} ${problem.call} was never answered${where}`;
    case 'unexpected':
      return `${problem.tool_name} ${problem.call} was answered otherwise than expected: ${problem.path} ${problem.reason}${where}`;
    case 'unreached':
      return `${problem.rounds} of ${problem.of} rounds ${problem.rounds === 1 ? 'was' : 'were'} never reached${where}`;
    case 'refused':
      return `${problem.what === 'session' ? 'a new session was' : 'results were'} refused with ${problem.status}: ${problem.reason}${where}`;
  }
}

/** `2 of 3 calls answered in 1 session, 4 problems` */
function summary({ sessions, calls, answered, problems: { count } }: SessionVerificationReport): string {
  const found = count === 0 ? '' : `, ${count} problem${count === 1 ? '' : 's'}`;
  return `${answered} of ${calls} call${calls === 1 ? '' : 's'} answered in ${sessions} session${sessions === 1 ? '' : 's'}${found}`;
}
