import type { Event } from '../../exchange/events.js';
import type { Conformance, Row } from '../../rules/conformance.js';
import type { Check } from '../../rules/judge.js';
import type { Redactor } from '../../text/redact.js';
import { valueAt } from '../../text/value-at.js';

/** Of what rules found that may be told to nobody, the text itself: from now on it is taken out like every other secret. */
export function learnFound(checks: readonly Check[], events: readonly Event[], redactor: Redactor): void {
  for (const { event: seq, path, range, isSecret } of checks.flatMap(({ spots = [] }) => spots)) {
    const event = isSecret && events.find(each => each.seq === seq);
    const body = event && 'body' in event ? event.body : undefined;
    const text = body?.json.ok ? valueAt(body.json.value, ...path) : undefined;
    if (typeof text === 'string' && range) redactor.add(text.slice(...range));
  }
}

/** A run as it may leave the machine: rules quote what was on the wire (threats, row 25). */
export function shareableRun(run: Conformance, redactor: Redactor): Conformance {
  const clean = (text: string) => redactor.text(text);
  return {
    ...run,
    checks: run.checks.map(row => ({ ...row, reason: clean(row.reason), ...differenceOf(row, clean) })),
    idle: run.idle.map(each => ({ ...each, why: clean(each.why) })),
    cases: run.cases.map(each => ({ ...each, reason: clean(each.reason) })),
    gaps: run.gaps.map(each => ({ ...each, reason: clean(each.reason) })),
  };
}

function differenceOf({ expected, actual }: Row, clean: (text: string) => string) {
  return {
    ...(expected !== undefined && { expected: clean(expected) }),
    ...(actual !== undefined && { actual: clean(actual) }),
  };
}
