import { type Level, REQUIREMENTS, type RequirementId, type Side } from '../protocol/requirements.js';
import { firstFew } from '../text/first-few.js';
import { type ConcernedCall, concernedBy } from './concerned-call.js';
import type { Evidence } from './evidence/evidence.js';
import { turnedAway } from './evidence/turned-away.js';
import { type Observation, perhapsLost } from './observation.js';
import { reasonOf } from './reason.js';
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
  /** The same on several lines, for where there is room; the one line unless told. */
  readonly reasonLines?: readonly string[];
  /** It passes, and its reason is worth reading all the same. */
  readonly isRemarkable?: true;
  /** By their `seq`, the events that prove it. */
  readonly events: readonly number[];
  /** Of what is not fine, the calls that it is about: those of these events, but for what merely proves it. */
  readonly calls?: readonly ConcernedCall[];
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
  const telling = tellingFirst(
    observations.filter(({ kind }) => kind === worst),
    evidences,
  );
  const told = telling.slice(0, TOLD);
  const events = [...new Set(told.flatMap(each => each.events))];
  const status = telling.some(isFatal) ? 'fail' : statusOf(worst, rule.id, evidences);
  return {
    ...about(rule.id),
    status,
    ...(telling.length > 0 ? reasonOf(telling) : { reason: absenceOf(rule, evidences) }),
    ...(telling.some(each => each.kind === 'held' && each.isRemarkable) && { isRemarkable: true }),
    events,
    ...callsOf(status, concernedIn(told), evidences),
    ...differenceOf(telling[0]),
    ...spotsOf(told),
    ...((status === 'fail' || status === 'warn') && rule.masks && { masks: rule.masks }),
  };
}

/** Rows of what is fine are alike in each run: ids are not. */
function callsOf(status: CheckStatus, events: readonly number[], evidences: readonly Evidence[]) {
  const calls = status === 'pass' || status === 'not-applicable' ? [] : concernedBy(events, evidences);
  return calls.length > 0 ? { calls } : {};
}

function concernedIn(observations: readonly Observation[]): readonly number[] {
  const concerned = observations.flatMap(each => ('about' in each && each.about) || each.events);
  return [...new Set(concerned)];
}

function observe(rule: Rule, evidence: Evidence): readonly Observation[] {
  const observations = rule.observe(evidence);
  if (evidence.isWhole) return observations;
  return observations.map(isPerhapsProbed(rule, evidence) ? withoutBlame : withoutAbsence);
}

/** What a probe does is no runtime's doing; where the word of it is lost, nobody can tell the two apart. */
function isPerhapsProbed({ id }: Rule, { isProbed }: Evidence): boolean {
  return isProbed && REQUIREMENTS[id].side === 'runtime';
}

function withoutBlame(observation: Observation): Observation {
  if (observation.kind !== 'broken' && observation.kind !== 'doubtful') return observation;
  return asUnseen(`${observation.what}; a probe may have done that, whose plan is lost`, observation);
}

/** What is missing may be what was lost. */
function withoutAbsence(observation: Observation): Observation {
  const isMissing = observation.kind === 'broken' && observation.isByAbsence;
  if (!isMissing) return observation;
  return asUnseen(perhapsLost(observation.what), observation);
}

type Seen = Pick<Exclude<Observation, { kind: 'held' }>, 'events' | 'about' | 'faults'>;

function asUnseen(what: string, { events, about, faults }: Seen): Observation {
  return { kind: 'unseen', what, events, ...(about && { about }), ...(faults && { faults }) };
}

/** Of a requirement that nobody outside can see. */
export function unobservable(id: RequirementId, reason: string): Check {
  return { ...about(id), status: 'not-applicable', reason, events: [] };
}

const WORST_FIRST = ['broken', 'unseen', 'doubtful', 'held', 'scant'] as const;

function statusOf(
  worst: Observation['kind'] | undefined,
  id: RequirementId,
  evidences: readonly Evidence[],
): CheckStatus {
  if (worst === undefined || worst === 'scant')
    return isMeant(id, evidences) ? 'could-not-run' : 'not-applicable';
  if (worst === 'broken') return REQUIREMENTS[id].level === 'MUST' ? 'fail' : 'warn';
  return ({ unseen: 'could-not-run', doubtful: 'warn', held: 'pass' } as const)[worst];
}

function isFatal(observation: Observation): boolean {
  return observation.kind === 'broken' && observation.isFatal === true;
}

/** What was meant to be seen and was not is a gap; what nobody looked for is none. */
function isMeant(id: RequirementId, evidences: readonly Evidence[]): boolean {
  return evidences.some(({ plans }) => plans.some(({ checks = [] }) => checks.includes(id)));
}

/** What the tool did wrong is plainest where nothing of it is our own doing. */
function tellingFirst(
  observations: readonly Observation[],
  evidences: readonly Evidence[],
): readonly Observation[] {
  const ours = new Set(evidences.flatMap(evidence => [...turnedAway(evidence)]));
  const isOurs = ({ events }: Observation) => events.some(seq => ours.has(seq));
  return observations.toSorted((one, other) => Number(isOurs(one)) - Number(isOurs(other)));
}

/** What was not called may offer it. */
function absenceOf({ absent, isOffered }: Rule, evidences: readonly Evidence[]): string {
  const names = [...new Set(evidences.flatMap(({ notCalled }) => notCalled))];
  return isOffered && names.length > 0 ? `${absent}; not called: ${firstFew(names, TOLD)}` : absent;
}

function about(id: RequirementId): Pick<Check, 'id' | 'side' | 'level'> {
  const { side, level } = REQUIREMENTS[id];
  return { id, side, level };
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
