import type { Conformance, Row } from '../../rules/conformance.js';
import { cut } from '../../text/cut.js';
import { cleanWords, type Redactor } from '../../text/redact.js';

/** Characters of a name: ids are foreign, and none of ours is longer. */
const LONGEST = 200;

/** A run as it may leave the machine: rules quote what was on the wire (threats, row 25). */
export function shareableRun(run: Conformance, redactor: Redactor): Conformance {
  const clean = (text: string) => cleanWords(redactor, text);
  return {
    ...run,
    checks: run.checks.map(row => ({
      ...row,
      ...reasonOf(row, clean),
      ...differenceOf(row, clean),
      ...callsOf(row, clean),
    })),
    idle: run.idle.map(each => ({ ...each, why: clean(each.why) })),
    cases: run.cases.map(each => ({ ...each, ...reasonOf(each, clean), ...callsOf(each, clean) })),
    gaps: run.gaps.map(each => ({ ...each, reason: clean(each.reason) })),
  };
}

function reasonOf(
  { reason, reasonLines }: Pick<Row, 'reason' | 'reasonLines'>,
  clean: (text: string) => string,
) {
  return { reason: clean(reason), ...(reasonLines && { reasonLines: reasonLines.map(clean) }) };
}

function callsOf({ calls }: Pick<Row, 'calls'>, clean: (text: string) => string) {
  const told = (name: string | null) => (name === null ? null : cut(clean(name), LONGEST));
  return (
    calls && {
      calls: calls.map(call => ({
        ...call,
        operation: told(call.operation),
        id: told(call.id),
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
