import type { RequirementId } from '../protocol/requirements.js';
import { type CallEvidence, isAbout } from './call.js';
import type { Evidence } from './evidence.js';
import type { Observation, Rule } from './rule.js';

/** A rule, and all that it observed. */
interface ObservedRule {
  readonly rule: Rule;
  readonly observations: readonly Observation[];
}

/** A rule, all that it observed, and the verdict. */
export interface Judgement<Verdict> extends ObservedRule {
  readonly check: Verdict;
}

/** What a rule is about: a call of a tool, or the name of a scenario. */
type Subject = CallEvidence | string;

/** What a verdict has that a failed rule explains. */
interface Explained {
  readonly status: string;
  readonly reason: string;
  readonly reasonLines?: readonly string[];
}

/**
 * The verdicts, with the failed rule that explains why another one could not run. The evidence has to connect the two: nothing met the
 * failed rule, or it was violated in every call (of a runtime: every scenario) that should have shown the other rule.
 */
export function withCauses<Verdict extends Explained>(
  judgements: readonly Judgement<Verdict>[],
  evidences: readonly Evidence[],
): readonly (Verdict & { readonly cause?: RequirementId })[] {
  const failures = judgements
    .filter(({ check }) => check.status === 'fail')
    .map(each => failureOf(each, evidences));
  const open = judgements.filter(({ check }) => check.status === 'could-not-run');
  return judgements.map(each => {
    const { check, rule } = each;
    const subjects = open.includes(each) ? subjectsOf(each, evidences) : null;
    const cause =
      subjects && failures.find(failure => failure.explains(subjects) && reaches(failure, rule.id, open));
    if (!cause) return check;
    const reason = `no verdict: ${cause.id} failed`;
    return { ...check, reason, reasonLines: [reason], cause: cause.id };
  });
}

interface Failure {
  readonly id: RequirementId;
  readonly masks: readonly RequirementId[];
  explains(subjects: ReadonlySet<Subject>): boolean;
}

function failureOf({ rule, observations }: ObservedRule, evidences: readonly Evidence[]): Failure {
  const isMetSomewhere = observations.some(({ kind }) => kind === 'met');
  const violations = observations.filter(({ kind }) => kind === 'violated');
  const violated = subjectsIn(violations, evidences);
  return {
    id: rule.id,
    masks: rule.masks ?? [],
    explains: subjects =>
      !isMetSomewhere || (subjects.size > 0 && [...subjects].every(each => violated.has(each))),
  };
}

/** Whether a failed rule masks this one, directly or through another one that could not run. */
function reaches({ masks }: Failure, id: RequirementId, open: readonly ObservedRule[]): boolean {
  return (
    masks.includes(id) ||
    open.some(({ rule }) => masks.includes(rule.id) && rule.masks?.includes(id) === true)
  );
}

/** What was planned to show a rule, and what it observed. */
function subjectsOf(
  { rule, observations }: ObservedRule,
  evidences: readonly Evidence[],
): ReadonlySet<Subject> {
  const planned = evidences.flatMap<Subject>(({ driver, calls }) => {
    if (driver) return driver.checks.includes(rule.id) ? [driver.scenario] : [];
    return calls.filter(({ plans }) => plans.some(({ checks = [] }) => checks.includes(rule.id)));
  });
  return new Set([...planned, ...subjectsIn(observations, evidences)]);
}

function subjectsIn(
  observations: readonly Observation[],
  evidences: readonly Evidence[],
): ReadonlySet<Subject> {
  const events = new Set(observations.flatMap(each => each.about ?? each.events));
  const scenarios = observations.flatMap(({ scenario }) => scenario ?? []);
  const calls = evidences.flatMap(evidence =>
    evidence.driver ? [] : evidence.calls.filter(call => isAbout(call, events)),
  );
  return new Set<Subject>([...scenarios, ...calls]);
}
