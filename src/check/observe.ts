import type { Evidence } from './evidence.js';
import { type ObservableRule, type Observation, possiblyLostText, unrecorded } from './rule.js';
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
  const spans = unservedSpans(view);
  const own = rule.observe(evidence).map(each => spans.find(span => explains(span, each))?.cause ?? each);
  const lastUnserved = spans.find(({ served }) => served === Number.POSITIVE_INFINITY);
  const isExpected = own.length === 0 ? view.checks.includes(rule.id) : isMain;
  const observations = lastUnserved
    ? [...(isExpected ? [lastUnserved.cause] : []), ...own]
    : withEarlyEnd(own, isMain, evidence, view);
  return observations.map(each => ({ ...each, scenario: view.scenario }));
}

/** From a request of an agent that the scripted model did not serve to the next one that it served. */
interface UnservedSpan {
  readonly cause: Observation;
  /** The `seq` of the two; infinite if the agent did not get past the first. */
  readonly unserved: number;
  readonly served: number;
}

function unservedSpans(view: RuntimeView): readonly UnservedSpan[] {
  const served = view.findings('served').map(({ event }) => event.seq);
  return view.findings('unserved').map(finding => {
    const { seq } = finding.event;
    return {
      cause: unrecorded(finding.message.text, finding),
      unserved: seq,
      served: served.find(each => each > seq) ?? Number.POSITIVE_INFINITY,
    };
  });
}

/** Whether the request may be why an agent broke a rule: it did so in this span, or it stopped there and what is missing may have followed. */
function explains({ unserved, served }: UnservedSpan, { kind, events, isByAbsence }: Observation): boolean {
  if (kind !== 'violated' && kind !== 'doubtful') return false;
  const last = Math.max(...events);
  return (unserved < last && last < served) || (isByAbsence === true && served === Number.POSITIVE_INFINITY);
}

/** Adds that the driver or the agent ended early. */
function withEarlyEnd(
  own: readonly Observation[],
  isMain: boolean,
  evidence: Evidence,
  { crash, endsByItself }: RuntimeView,
): readonly Observation[] {
  if (!crash) return own;
  const end = { what: `the runtime ${crash.ended}`, events: [crash.seq] };
  return endsByItself ? withAgentEnd(own, isMain, evidence, end) : withDriverEnd(own, isMain, end);
}

type EarlyEnd = Readonly<Required<Pick<Observation, 'what' | 'events'>>>;

/** A driver must not end early: it breaks the main requirement of its scenario. */
function withDriverEnd(own: readonly Observation[], isMain: boolean, end: EarlyEnd): readonly Observation[] {
  return isMain ? [...own, { kind: 'violated', ...end, isFatal: true }] : own;
}

/** An agent may end on its own: then missing events prove nothing. */
function withAgentEnd(
  own: readonly Observation[],
  isMain: boolean,
  { requestedCalls }: Evidence,
  { what, events }: EarlyEnd,
): readonly Observation[] {
  const others = own.map(each =>
    each.isByAbsence ? unrecorded(what, { events: [...each.events, ...events] }) : each,
  );
  // It may stop at a tool that it does not have: one of no toolset, or of two.
  const stoppedAtUnknown = requestedCalls.some(
    ({ tools, call, answers }) => tools.length !== 1 && !call && answers.length === 0,
  );
  return isMain && !(stoppedAtUnknown && own.length > 0)
    ? [...others, { kind: 'unrecorded', what, events }]
    : others;
}
