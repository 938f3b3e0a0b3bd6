import type { RequirementId } from '../protocol/requirements.js';
import { type Evidence, possiblyLostText } from './evidence.js';
import { type ObservableRule, type Observation, unrecorded } from './rule.js';
import type { RuntimeView } from './runtime-view.js';

/** What a rule observes in one recording. In an incomplete recording, missing events prove nothing, and a request of a probe looks like one of the runtime. */
export function observe(rule: ObservableRule, evidence: Evidence): readonly Observation[] {
  const { view } = evidence;
  const observations = view ? observeDriven(rule, evidence, view) : rule.observe(evidence);
  if (evidence.isWhole) return observations;
  const mayBeProbe = evidence.isProbed && rule.side === 'runtime';
  return observations.map(each => {
    const { what = '', kind, events, about, faults, isByAbsence } = each;
    const isOfProbe = mayBeProbe && (kind === 'violated' || kind === 'doubtful');
    if (!isOfProbe && !isByAbsence) return each;
    const why = isOfProbe
      ? `${what}; it may come from a probe whose plan is missing`
      : possiblyLostText(what);
    return { kind: 'unrecorded', what: why, events, ...(about && { about }), ...(faults && { faults }) };
  });
}

function observeDriven(rule: ObservableRule, evidence: Evidence, view: RuntimeView): readonly Observation[] {
  const isMain = view.checks[0] === rule.id;
  const own = rule.observe(evidence);
  const observations = withoutUnserved(own, rule.id, view) ?? withEarlyEnd(own, isMain, evidence, view);
  return observations.map(each => ({ ...each, scenario: view.scenario }));
}

/** An agent whose request the scripted model did not serve breaks no rule by what follows. Returns null if it served all requests. */
function withoutUnserved(
  own: readonly Observation[],
  id: RequirementId,
  view: RuntimeView,
): readonly Observation[] | null {
  const [unserved] = view.findings('unserved');
  if (!unserved) return null;
  const cause = unrecorded(unserved.message.text, unserved);
  const isFault = ({ kind }: Observation) => kind === 'violated' || kind === 'doubtful';
  const others = own.map(each => (isFault(each) ? cause : each));
  const isExpected = own.length === 0 ? view.checks.includes(id) : view.checks[0] === id;
  return isExpected ? [cause, ...others] : others;
}

/** A driver that ended early breaks the main requirement of its scenario. An agent may end, also at a tool that it does not have: of no toolset, or of two. */
function withEarlyEnd(
  own: readonly Observation[],
  isMain: boolean,
  { requestedCalls }: Evidence,
  { crash, endsByItself }: RuntimeView,
): readonly Observation[] {
  if (!crash) return own;
  const what = `the runtime ${crash.ended}`;
  const events = [crash.seq];
  if (!endsByItself) return isMain ? [...own, { kind: 'violated', what, events, isFatal: true }] : own;
  const others = own.map(each =>
    each.isByAbsence ? unrecorded(what, { events: [...each.events, ...events] }) : each,
  );
  const stoppedAtUnknown = requestedCalls.some(
    ({ tools, call, answers }) => tools.length !== 1 && !call && answers.length === 0,
  );
  return isMain && !(stoppedAtUnknown && own.length > 0)
    ? [...others, { kind: 'unrecorded', what, events }]
    : others;
}
