import { ADVICE } from '../../protocol/advice.js';
import { REQUIREMENTS } from '../../protocol/requirements.js';
import type { Row } from '../../rules/conformance.js';
import { BREACHES } from '../../story/checks/row-lines.js';
import { safeJson } from '../../text/json-safe.js';
import type { CheckFormat } from './format.js';

/** One object: a row for each rule, one for each case. */
export const jsonCheck: CheckFormat = ({ program, target, run, warnings }) => {
  const { verdict, summary, cases, gaps, idle } = run;
  return `${safeJson({ program, target, verdict, checks: run.checks.map(rowOf), cases, gaps, idleExpectedFailures: idle, warnings, summary }, 2)}\n`;
};

function rowOf({ excuse, ...row }: Row): object {
  const { statement } = REQUIREMENTS[row.id];
  const { reason, place } = excuse ?? {};
  const advice = BREACHES.includes(row.standing) ? { advice: ADVICE[row.id] } : {};
  return { ...row, statement, ...advice, ...(excuse && { expectedFailure: { reason, place } }) };
}
