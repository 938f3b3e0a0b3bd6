import type { Conformance, Row } from '../../rules/conformance.js';
import type { Redactor } from '../../text/redact.js';

/** A run as it may leave the machine: rules quote what was on the wire (threats, row 25). */
export function shareableRun(run: Conformance, redactor: Redactor): Conformance {
  const clean = (text: string) => redactor.text(text);
  return {
    ...run,
    checks: run.checks.map(row => ({
      ...row,
      reason: clean(row.reason),
      ...differenceOf(row, clean),
      ...callsOf(row, clean),
    })),
    idle: run.idle.map(each => ({ ...each, why: clean(each.why) })),
    cases: run.cases.map(each => ({ ...each, reason: clean(each.reason), ...callsOf(each, clean) })),
    gaps: run.gaps.map(each => ({ ...each, reason: clean(each.reason) })),
  };
}

function callsOf({ calls }: Pick<Row, 'calls'>, clean: (text: string) => string) {
  const cleanOrNull = (name: string | null) => (name === null ? null : clean(name));
  return (
    calls && {
      calls: calls.map(call => ({
        ...call,
        operation: cleanOrNull(call.operation),
        id: cleanOrNull(call.id),
      })),
    }
  );
}

function differenceOf({ expected, actual }: Row, clean: (text: string) => string) {
  return {
    ...(expected !== undefined && { expected: clean(expected) }),
    ...(actual !== undefined && { actual: clean(actual) }),
  };
}
