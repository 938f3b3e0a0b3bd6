import { ADVICE } from '../../protocol/advice.js';
import { REQUIREMENTS } from '../../protocol/requirements.js';
import type { Row } from '../../rules/conformance.js';
import { notCalled } from '../../rules/evidence/not-called.js';
import { probeTimes, wholeTime } from '../../story/checks/probe-times.js';
import { BREACHES } from '../../story/checks/row-lines.js';
import type { WireRecord } from '../../story/checks/wire-legs.js';
import { tellingLegs } from '../../story/checks/wire-lines.js';
import { safeJson } from '../../text/json-safe.js';
import type { CheckFormat } from './format.js';

/** One object, as fixtures/check-report.schema.json has it: a row for each rule, one for each case. */
export const jsonCheck: CheckFormat = ({ program, target, run, record, warnings }) => {
  const { verdict, summary, cases, gaps, idle } = run;
  const report = {
    program,
    target,
    verdict,
    durationMs: wholeTime(record.events),
    checks: run.checks.map(row => rowOf(row, record)),
    cases: cases.map(({ reasonLines: _, ...each }) => each),
    gaps,
    idleExpectedFailures: idle,
    probes: probeTimes(record.events),
    notCalled: notCalled(record.events),
    warnings,
    summary,
  };
  return `${safeJson(report, 2)}\n`;
};

const FINE: readonly Row['standing'][] = ['passed', 'stale', 'not-applicable'];

function rowOf({ excuse, spots = [], reasonLines: _, ...row }: Row, record: WireRecord): object {
  const { id, standing, events } = row;
  const { reason, place } = excuse ?? {};
  return {
    ...row,
    statement: REQUIREMENTS[id].statement,
    ...(BREACHES.includes(standing) && { advice: ADVICE[id] }),
    ...(excuse && { expectedFailure: { reason, place } }),
    ...(!FINE.includes(standing) && { evidence: tellingLegs({ events, spots }, record).shown }),
  };
}
