import { type Level, REQUIREMENTS, type RequirementId, type Side } from '../protocol/requirements.js';
import type { Evidence } from './evidence/evidence.js';
import type { Observation } from './observation.js';
import type { Rule } from './rule.js';
import type { Spot } from './spot.js';

export type CheckStatus = 'pass' | 'fail' | 'warn' | 'not-applicable' | 'could-not-run';

/** What came of one requirement: one row of a report. */
export interface Check {
  readonly id: RequirementId;
  readonly side: Side;
  readonly level: Level;
  readonly status: CheckStatus;
  readonly reason: string;
  /** By their `seq`, the events that prove it. */
  readonly events: readonly number[];
  /** Of the first breach. */
  readonly expected?: string;
  readonly actual?: string;
  /** Where in the messages it is, of those that are told. */
  readonly spots?: readonly Spot[];
  /** What else may be as it is for the same reason; of a failure or a warning. */
  readonly masks?: readonly RequirementId[];
}

/** More breaches than these are counted. */
const TOLD = 3;

/** A rule's verdict on the evidence; on several recordings together, each of them seen by itself. */
export function judge(rule: Rule, ...evidences: readonly Evidence[]): Check {
  const observations = evidences.flatMap(evidence => observe(rule, evidence));
  const worst = WORST_FIRST.find(kind => observations.some(each => each.kind === kind));
  if (!worst) return nothingSeen(rule, evidences);
  const telling = observations.filter(({ kind }) => kind === worst);
  const status = statusOf(worst, REQUIREMENTS[rule.id].level);
  return {
    ...about(rule.id),
    status,
    reason: reasonOf(telling),
    events: [...new Set(telling.slice(0, TOLD).flatMap(({ events }) => events))],
    ...differenceOf(telling[0]),
    ...spotsOf(telling.slice(0, TOLD)),
    ...((status === 'fail' || status === 'warn') && rule.masks && { masks: rule.masks }),
  };
}

function observe(rule: Rule, evidence: Evidence): readonly Observation[] {
  const observations = rule.observe(evidence);
  return evidence.isWhole ? observations : observations.map(withoutAbsence);
}

/** What is missing may be what was lost. */
function withoutAbsence(observation: Observation): Observation {
  const isMissing = observation.kind === 'broken' && observation.isByAbsence;
  if (!isMissing) return observation;
  const { what, events } = observation;
  return { kind: 'unseen', what: `${what}; that may have been lost`, events };
}

/** Of a requirement that nobody outside can see. */
export function unobservable(id: RequirementId, reason: string): Check {
  return { ...about(id), status: 'not-applicable', reason, events: [] };
}

const WORST_FIRST = ['broken', 'unseen', 'doubtful', 'held'] as const;

function statusOf(kind: Observation['kind'], level: Level): CheckStatus {
  if (kind === 'broken') return level === 'MUST' ? 'fail' : 'warn';
  return ({ unseen: 'could-not-run', doubtful: 'warn', held: 'pass' } as const)[kind];
}

/** What was meant to be seen and was not is a gap; what nobody looked for is none. */
function nothingSeen({ id, absent }: Rule, evidences: readonly Evidence[]): Check {
  const plans = evidences.flatMap(evidence => evidence.plans);
  const wasMeant = plans.some(({ checks = [] }) => checks.includes(id));
  return { ...about(id), status: wasMeant ? 'could-not-run' : 'not-applicable', reason: absent, events: [] };
}

function about(id: RequirementId): Pick<Check, 'id' | 'side' | 'level'> {
  const { side, level } = REQUIREMENTS[id];
  return { id, side, level };
}

function reasonOf(observations: readonly Observation[]): string {
  const told = [...new Set(observations.flatMap(({ what }) => what ?? []))];
  const rest = told.length - TOLD;
  if (told.length === 0) return `seen ${observations.length === 1 ? 'once' : `${observations.length} times`}`;
  return told.slice(0, TOLD).join('; ') + (rest > 0 ? `; and ${rest} more` : '');
}

function differenceOf(observation: Observation | undefined) {
  if (!observation || !('expected' in observation || 'actual' in observation)) return {};
  const { expected, actual } = observation;
  return { ...(expected !== undefined && { expected }), ...(actual !== undefined && { actual }) };
}

function spotsOf(observations: readonly Observation[]) {
  const spots = observations.flatMap(each => ('spots' in each ? (each.spots ?? []) : []));
  return spots.length > 0 ? { spots } : {};
}
