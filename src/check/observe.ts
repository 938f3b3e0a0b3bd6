import type { DriverEvidence } from './driver-evidence.js';
import type { Evidence } from './evidence.js';
import { type ObservableRule, type Observation, possiblyLostText, unrecorded } from './rule.js';
import { explains, type UnservedSpan, unservedSpans } from './unserved-spans.js';

/** What a rule observes in one recording. */
export function observe(rule: ObservableRule, evidence: Evidence): readonly Observation[] {
  const { driver } = evidence;
  const observations = driver ? observeDriven(rule, evidence, driver) : rule.observe(evidence);
  return evidence.isWhole
    ? observations
    : observations.map(each => asPossiblyLost(each, isFromProbe(each, rule, evidence)));
}

/** Whether a request of a probe may look like one of the runtime, since the plan of the probe is missing. */
function isFromProbe({ kind }: Observation, { side }: ObservableRule, { isProbed }: Evidence): boolean {
  return isProbed && side === 'runtime' && (kind === 'violated' || kind === 'doubtful');
}

/** In an incomplete recording, missing events prove nothing. */
function asPossiblyLost(observation: Observation, isOfProbe: boolean): Observation {
  const { what = '', events, about, faults, isByAbsence } = observation;
  if (!isOfProbe && !isByAbsence) return observation;
  const why = isOfProbe ? `${what}; it may come from a probe whose plan is missing` : possiblyLostText(what);
  return { kind: 'unrecorded', what: why, events, ...(about && { about }), ...(faults && { faults }) };
}

/** What a rule observes in a scenario: of an agent, without what an unserved request explains, and with an early end. */
function observeDriven(
  rule: ObservableRule,
  evidence: Evidence,
  driver: DriverEvidence,
): readonly Observation[] {
  const spans = unservedSpans(driver);
  const own = rule.observe(evidence).map(each => spans.find(span => explains(span, each))?.cause ?? each);
  const stoppedAt = spans.find(({ served }) => served === null);
  const observations = stoppedAt
    ? withUnservedEnd(own, stoppedAt, rule, driver)
    : withEarlyEnd(own, rule, evidence, driver);
  return observations.map(each => ({ ...each, scenario: driver.scenario }));
}

function isMainRule({ id }: ObservableRule, { checks }: DriverEvidence): boolean {
  return checks[0] === id;
}

/** Adds the request at which an agent stopped: to the main rule, and to others that observed nothing else. */
function withUnservedEnd(
  own: readonly Observation[],
  { cause }: UnservedSpan,
  rule: ObservableRule,
  driver: DriverEvidence,
): readonly Observation[] {
  const isConcerned = own.length === 0 ? driver.checks.includes(rule.id) : isMainRule(rule, driver);
  return isConcerned ? [cause, ...own] : own;
}

/** Adds that the driver or the agent ended early. */
function withEarlyEnd(
  own: readonly Observation[],
  rule: ObservableRule,
  { requestedCalls }: Evidence,
  driver: DriverEvidence,
): readonly Observation[] {
  const { crash, endsByItself } = driver;
  if (!crash) return own;
  const isMain = isMainRule(rule, driver);
  const end = { what: `the runtime ${crash.ended}`, events: [crash.seq] };
  if (endsByItself) return withAgentEnd(own, isMain, requestedCalls, end);
  // A driver must not end early: it breaks the main requirement of its scenario.
  return isMain ? [...own, { kind: 'violated', ...end, isFatal: true }] : own;
}

/** An agent may end on its own: then missing events prove nothing. */
function withAgentEnd(
  own: readonly Observation[],
  isMain: boolean,
  requestedCalls: Evidence['requestedCalls'],
  { what, events }: Readonly<Required<Pick<Observation, 'what' | 'events'>>>,
): readonly Observation[] {
  const observations = own.map(each =>
    each.isByAbsence ? unrecorded(what, { events: [...each.events, ...events] }) : each,
  );
  // It may stop at a tool that it does not have: one of no toolset, or of two.
  const stoppedAtUnknown = requestedCalls.some(
    ({ tools, call, answers }) => tools.length !== 1 && !call && answers.length === 0,
  );
  if (!isMain || (stoppedAtUnknown && own.length > 0)) return observations;
  return [...observations, { kind: 'unrecorded', what, events }];
}
