import type { RequirementId, Side } from '../protocol/requirements.js';
import { firstFew, firstOf } from '../util/text.js';
import { isRecord } from '../util/values.js';
import type { CallEvidence } from './call.js';
import type { Evidence } from './evidence.js';
import type { Level, ObservableRule, Observation, Rule, Spot } from './rule.js';

export type CheckStatus = 'pass' | 'fail' | 'warn' | 'not-applicable' | 'could-not-run';

/** A call that a finding is about, as the user can find it. */
export interface ConcernedCall {
  /** Null if its invocation has none. */
  readonly operation: string | null;
  readonly id: string | null;
  /** The line of its invocation in the file. */
  readonly line?: number;
}

/** The verdict on one requirement: one row of a report. */
export interface Check {
  readonly id: RequirementId;
  readonly side: Side;
  readonly level: Level;
  readonly status: CheckStatus;
  readonly reason: string;
  /** The reason on several lines, if it has more than one. */
  readonly reasonLines?: readonly string[];
  /** It passes, and its reason is worth reading all the same. */
  readonly isRemarkable?: true;
  /** By their `seq`, the events that prove it. */
  readonly events: readonly number[];
  /** The calls concerned, if it does not pass. */
  readonly calls?: readonly ConcernedCall[];
  /** Of the first violation. */
  readonly expected?: string;
  readonly actual?: string;
  /** Where in the messages the reported violations are. */
  readonly spots?: readonly Spot[];
  /** Other requirements that may fail for the same reason. */
  readonly masks?: readonly RequirementId[];
}

/** Limits of a reason: violations, kinds of them, and names or errors per kind. */
const MAX_SHOWN = 3;

/** Errors of one kind where each has a line of its own. */
const MAX_LINES = 10;

const MAX_CALLS = 10;

const WORST_FIRST = ['broken', 'unseen', 'doubtful', 'held', 'scant'] as const;

const STATUSES = { unseen: 'could-not-run', doubtful: 'warn', held: 'pass' } as const;

/** Judges the evidence of one or more recordings by a rule, each recording separately. */
export function judge(rule: Rule, ...evidences: readonly Evidence[]): Check {
  const { id, side, level } = rule;
  if ('unobservable' in rule)
    return { id, side, level, status: 'not-applicable', reason: rule.unobservable, events: [] };
  const observations = evidences.flatMap(evidence => observe(rule, evidence));
  const worst = WORST_FIRST.find(kind => observations.some(each => each.kind === kind));
  const found = probeFaultsLast(
    observations.filter(({ kind }) => kind === worst),
    evidences,
  );
  const shown = found.slice(0, MAX_SHOWN);
  const status = found.some(({ isFatal }) => isFatal) ? 'fail' : statusOf(worst, rule, evidences);
  const isOpen = status !== 'pass' && status !== 'not-applicable'; // ids in rows that pass would differ in each run
  const about = new Set(shown.flatMap(each => each.about ?? each.events));
  const calls = isOpen ? concernedCalls([...about], evidences) : [];
  const spots = shown.flatMap(each => each.spots ?? []);
  const { expected, actual } = found[0] ?? {};
  return {
    ...{ id, side, level, status },
    ...(found.length > 0 ? reasonOf(found) : { reason: absenceOf(rule, evidences) }),
    ...(found.some(({ isRemarkable }) => isRemarkable) && { isRemarkable: true }),
    events: [...new Set(shown.flatMap(each => each.events))],
    ...(calls.length > 0 && { calls }),
    ...(expected !== undefined && { expected }),
    ...(actual !== undefined && { actual }),
    ...(spots.length > 0 && { spots }),
    ...((status === 'fail' || status === 'warn') && rule.masks && { masks: rule.masks }),
  };
}

/** In an incomplete recording, missing events prove nothing, and a request of a probe looks like one of the runtime. */
function observe(rule: ObservableRule, evidence: Evidence): readonly Observation[] {
  const observations = rule.observe(evidence);
  if (evidence.isWhole) return observations;
  const mayBeProbe = evidence.isProbed && rule.side === 'runtime';
  return observations.map(each => {
    if (mayBeProbe && (each.kind === 'broken' || each.kind === 'doubtful'))
      return asUnseen(each, `${each.what}; it may come from a probe whose plan is missing`);
    return each.isByAbsence ? asUnseen(each, possiblyLost(each.what ?? '')) : each;
  });
}

function asUnseen({ events, about, faults }: Observation, what: string): Observation {
  return { kind: 'unseen', what, events, ...(about && { about }), ...(faults && { faults }) };
}

/** Says that something missing may be in the lost part. */
export function possiblyLost(what: string): string {
  return `${what}; the recording is incomplete`;
}

function statusOf(
  worst: Observation['kind'] | undefined,
  { id, level }: Rule,
  evidences: readonly Evidence[],
): CheckStatus {
  if (worst === 'broken') return level === 'MUST' ? 'fail' : 'warn';
  if (worst !== undefined && worst !== 'scant') return STATUSES[worst];
  const isPlanned = evidences.some(({ plans }) => plans.some(({ checks = [] }) => checks.includes(id)));
  return isPlanned ? 'could-not-run' : 'not-applicable';
}

/** Callbacks that a probe rejected on purpose are worse proof than others. */
function probeFaultsLast(
  observations: readonly Observation[],
  evidences: readonly Evidence[],
): readonly Observation[] {
  const rejected = new Set(
    evidences
      .flatMap(({ calls }) => calls.filter(call => call.isMadeBy('probe')))
      .flatMap(({ callbacks }) => callbacks.filter(each => each.isFailed || each.isRefused))
      .flatMap(({ events }) => events),
  );
  const isRejected = ({ events }: Observation) => events.some(seq => rejected.has(seq));
  return observations.toSorted((one, other) => Number(isRejected(one)) - Number(isRejected(other)));
}

/** An operation that was not called may offer it. */
function absenceOf({ absent, isOffered }: ObservableRule, evidences: readonly Evidence[]): string {
  const names = [...new Set(evidences.flatMap(({ notCalled }) => notCalled))];
  return isOffered && names.length > 0 ? `${absent}; not called: ${firstFew(names, MAX_SHOWN)}` : absent;
}

/** The first calls that these events belong to, in the order of the events. */
export function concernedCalls(
  events: readonly number[],
  evidences: readonly Pick<Evidence, 'calls' | 'lines'>[],
): readonly ConcernedCall[] {
  const places = new Map(events.map((seq, place) => [seq, place]));
  return evidences
    .flatMap(({ calls, lines }) => calls.map(call => ({ call, lines, place: firstPlace(call, places) })))
    .filter(({ place }) => place !== Number.POSITIVE_INFINITY)
    .toSorted((one, other) => one.place - other.place)
    .slice(0, MAX_CALLS)
    .map(({ call, lines }) => concernedCall(call, lines))
    .filter(({ operation, id, line }) => operation !== null || id !== null || line !== undefined);
}

function firstPlace(
  { attempts, callbacks, selections, cancels }: CallEvidence,
  places: ReadonlyMap<number, number>,
): number {
  const own = [attempts, callbacks, selections, cancels].flat();
  return own.reduce(
    (first, { request }) => Math.min(first, places.get(request.seq) ?? Number.POSITIVE_INFINITY),
    Number.POSITIVE_INFINITY,
  );
}

/** Names are not cut: redaction cannot find a secret that was cut. */
function concernedCall({ attempts: [attempt] }: CallEvidence, lines: Evidence['lines']): ConcernedCall {
  const { operation, id } = isRecord(attempt?.sentJson) ? attempt.sentJson : {};
  const line = lines?.get(attempt?.request.seq ?? -1);
  const nameIn = (value: unknown) => (typeof value === 'string' ? value : null);
  return { operation: nameIn(operation), id: nameIn(id), ...(line !== undefined && { line }) };
}

/** Observations with the same words. */
interface Kind {
  readonly what: string;
  readonly names: Set<string>;
  readonly faults: Set<string>;
}

/** Each kind once, with its first names and errors. */
export function reasonOf(observations: readonly Observation[]): Pick<Check, 'reason' | 'reasonLines'> {
  const kinds = kindsOf(observations);
  if (kinds.length === 0)
    return { reason: `seen ${observations.length === 1 ? 'once' : `${observations.length} times`}` };
  const sentences = firstOf(kinds.map(sentenceOf), MAX_SHOWN);
  const reasonLines = [...kinds.slice(0, MAX_SHOWN).flatMap(linesOf), ...sentences.slice(MAX_SHOWN)];
  return { reason: sentences.join('; '), ...(reasonLines.length > 1 && { reasonLines }) };
}

function kindsOf(observations: readonly Observation[]): readonly Kind[] {
  const kinds = new Map<string, Kind>();
  for (const { what, name, faults = [] } of observations) {
    if (what === undefined) continue;
    const kind = kinds.get(what) ?? { what, names: new Set(), faults: new Set() };
    kinds.set(what, kind);
    if (name !== undefined) kind.names.add(name);
    for (const fault of faults) kind.faults.add(fault);
  }
  return [...kinds.values()];
}

function titleOf({ what, names }: Kind): string {
  return names.size === 0 ? what : `${what}: ${firstFew([...names], MAX_SHOWN)}`;
}

function sentenceOf(kind: Kind): string {
  const { faults } = kind;
  const title = titleOf(kind);
  return faults.size === 0 ? title : `${title}: ${firstOf([...faults], MAX_SHOWN).join('; ')}`;
}

function linesOf(kind: Kind): readonly string[] {
  if (kind.faults.size < 2) return [sentenceOf(kind)];
  return [`${titleOf(kind)}:`, ...firstOf([...kind.faults], MAX_LINES).map(fault => `  ${fault}`)];
}
