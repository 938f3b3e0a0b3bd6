import { type Level, REQUIREMENTS, type RequirementId, type Side } from '../protocol/requirements.js';
import { isRecord } from '../util/json-diagnosis.js';
import { firstFew, firstOf } from '../util/json-layout.js';
import {
  type CallEvidence,
  type Evidence,
  eventsOf,
  isFailedForNow,
  isRefused,
  type Leg,
} from './evidence.js';

/** A call that a finding is about, as a person finds it again. */
export interface ConcernedCall {
  /** Null where its invocation has none. */
  readonly operation: string | null;
  readonly id: string | null;
  /** Of the file, the line of its invocation; none of what was not read from lines. */
  readonly line?: number;
}

/** More calls are in the transcript. */
const MOST_CALLS = 10;

/** The calls that events, named by their `seq`, are of, in the order of these; none for what concerns no call. */
export function concernedBy(
  seqs: readonly number[],
  evidences: readonly Pick<Evidence, 'calls' | 'lines'>[],
): readonly ConcernedCall[] {
  const places = new Map(seqs.map((seq, place) => [seq, place]));
  const found = evidences.flatMap(({ calls, lines }) =>
    calls.flatMap(call => {
      const place = placeOf(call, places);
      return place === null ? [] : [{ place, call, lines }];
    }),
  );
  return found
    .toSorted((one, other) => one.place - other.place)
    .slice(0, MOST_CALLS)
    .map(({ call, lines }) => known(call, lines))
    .filter(({ operation, id, line }) => operation !== null || id !== null || line !== undefined);
}

/** Of its events among those that are named, the place of the first. */
function placeOf(
  { attempts, callbacks, selections, cancels }: CallEvidence,
  places: ReadonlyMap<number, number>,
): number | null {
  const legs = [attempts, callbacks, selections, cancels].flat();
  const own = legs.flatMap(({ request }) => places.get(request.seq) ?? []);
  return own.reduce<number | null>((first, place) => Math.min(first ?? place, place), null);
}

function known({ attempts: [attempt] }: CallEvidence, lines: Evidence['lines']): ConcernedCall {
  const body = attempt?.request.body;
  const sent = body?.json.ok && isRecord(body.json.value) ? body.json.value : {};
  const line = lines?.get(attempt?.request.seq ?? -1);
  const { operation, id } = sent;
  return { operation: nameIn(operation), id: nameIn(id), ...(line !== undefined && { line }) };
}

/** Not cut: redaction cannot find a secret that was cut. */
function nameIn(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** The events of callbacks that a probe did not take, mostly on purpose: what else is wrong with one is better seen on another. */
function turnedAway({ calls }: Pick<Evidence, 'calls'>): ReadonlySet<number> {
  const probed = calls.filter(({ plans }) => plans.some(({ by }) => by === 'probe'));
  const legs = probed.flatMap(({ callbacks }) =>
    callbacks.filter(leg => isFailedForNow(leg) || isRefused(leg)),
  );
  return new Set(legs.flatMap(eventsOf));
}

/** Where in a message a finding is: a member of its JSON, also one that is missing, or a part of the text there. */
export interface Spot {
  /** `seq` of the request or the response whose body it is. */
  readonly event: number;
  readonly path: readonly (string | number)[];
  /** Of the text there: the first character, and the one after the last. */
  readonly range?: readonly [from: number, to: number];
}

/** A member of what was sent. */
export function sent({ request }: Leg, ...path: Spot['path']): Spot {
  return { event: request.seq, path };
}

/** One place at which a requirement was held or not, with the events that prove it. */
export type Observation =
  | {
      readonly kind: 'held';
      readonly events: readonly number[];
      readonly what?: string;
      /** Show it even though the rule passes. */
      readonly isRemarkable?: true;
    }
  | {
      /** `doubtful`: no breach, and nothing to be proud of. */
      readonly kind: 'broken' | 'doubtful';
      readonly what: string;
      /** What alone tells it from others of its kind: the foreign id that came. */
      readonly name?: string;
      /** What is wrong one by one, where it may be much: it follows `what`. */
      readonly faults?: readonly string[];
      readonly events: readonly number[];
      /** The events of the calls concerned, if other events are only evidence; default: all events. */
      readonly about?: readonly number[];
      readonly expected?: string;
      readonly actual?: string;
      /** Broken by what is not there, which may have been lost with a part of the transcript. */
      readonly isByAbsence?: true;
      /** A failure whatever the level of the rule: a tool that is gone holds no MUST either. */
      readonly isFatal?: true;
      /** Where in the messages it is. */
      readonly spots?: readonly Spot[];
    }
  | {
      /** `unseen`: it should have been there to see, and was not. `scant`: too little was there for a verdict, and no more was due. */
      readonly kind: 'unseen' | 'scant';
      readonly what: string;
      readonly faults?: readonly string[];
      readonly events: readonly number[];
      readonly about?: readonly number[];
    };

/** What was due, what was there instead, and where. */
export interface Difference {
  readonly expected?: string;
  readonly actual?: string;
  readonly name?: string;
  readonly faults?: readonly string[];
  readonly about?: readonly number[];
  readonly spots?: readonly Spot[];
}

/** @param what worth saying of a pass: a window, a figure */
export function held(legs: readonly Leg[], what?: string): Observation {
  return { kind: 'held', events: legs.flatMap(eventsOf), ...(what !== undefined && { what }) };
}

/** As {@link held}, with something that a person should know. */
export function heldBut(what: string, legs: readonly Leg[]): Observation {
  return { kind: 'held', what, events: legs.flatMap(eventsOf), isRemarkable: true };
}

export function broken(what: string, legs: readonly Leg[], difference: Difference = {}): Observation {
  return { kind: 'broken', what, events: legs.flatMap(eventsOf), ...difference };
}

/** As {@link broken}, by something that did not happen: no breach where a part of what happened is not known. */
export function lacking(what: string, legs: readonly Leg[], difference: Difference = {}): Observation {
  return { kind: 'broken', what, events: legs.flatMap(eventsOf), ...difference, isByAbsence: true };
}

/** What ended the tool: from then on nothing is held. */
export function fatal(observation: Observation): Observation {
  return observation.kind === 'broken' ? { ...observation, isFatal: true } : observation;
}

/** Of what did not happen, as far as is known, where not everything is. */
export function perhapsLost(what: string): string {
  return `${what}; the recording is incomplete`;
}

export function doubtful(what: string, legs: readonly Leg[], difference: Difference = {}): Observation {
  return { kind: 'doubtful', what, events: legs.flatMap(eventsOf), ...difference };
}

export function scant(what: string, legs: readonly Leg[]): Observation {
  return { kind: 'scant', what, events: legs.flatMap(eventsOf) };
}

export function unseen(what: string, legs: readonly Leg[]): Observation {
  return { kind: 'unseen', what, events: legs.flatMap(eventsOf) };
}

/** More kinds than these, and more names or faults of one, are counted. */
const REASON_TOLD = 3;
/** Of faults, where each has a line of its own. */
const LINES = 10;

/** What was seen. */
interface Reason {
  readonly reason: string;
  /** The same on several lines, for where there is room. */
  readonly reasonLines?: readonly string[];
}

/** Observations that say the same. */
interface Kind {
  readonly what: string;
  readonly names: Set<string>;
  readonly faults: Set<string>;
}

/** Each kind once, with the first of the names that alone tell one of it from the other, and of what is wrong with it. */
export function reasonOf(observations: readonly Observation[]): Reason {
  const kinds = kindsOf(observations);
  if (kinds.length === 0)
    return { reason: `seen ${observations.length === 1 ? 'once' : `${observations.length} times`}` };
  const sentences = firstOf(kinds.map(sentenceOf), REASON_TOLD);
  const reasonLines = [...kinds.slice(0, REASON_TOLD).flatMap(linesOf), ...sentences.slice(REASON_TOLD)];
  return { reason: sentences.join('; '), ...(reasonLines.length > 1 && { reasonLines }) };
}

function kindsOf(observations: readonly Observation[]): readonly Kind[] {
  const kinds = new Map<string, Kind>();
  for (const each of observations) {
    if (each.what === undefined) continue;
    const kind = kinds.get(each.what) ?? { what: each.what, names: new Set(), faults: new Set() };
    kinds.set(each.what, kind);
    if ('name' in each && each.name !== undefined) kind.names.add(each.name);
    if ('faults' in each) for (const fault of each.faults ?? []) kind.faults.add(fault);
  }
  return [...kinds.values()];
}

function sentenceOf(kind: Kind): string {
  const { faults } = kind;
  const what = namedOf(kind);
  return faults.size === 0 ? what : `${what}: ${firstOf([...faults], REASON_TOLD).join('; ')}`;
}

/** A heading and what stands below it; of a single fault one line. */
function linesOf(kind: Kind): readonly string[] {
  if (kind.faults.size < 2) return [sentenceOf(kind)];
  return [`${namedOf(kind)}:`, ...firstOf([...kind.faults], LINES).map(fault => `  ${fault}`)];
}

function namedOf({ what, names }: Kind): string {
  return names.size === 0 ? what : `${what}: ${firstFew([...names], REASON_TOLD)}`;
}

/** Judges one requirement by what happened. Pure: a live run, a recording and a log of CI are judged alike. */
export interface Rule {
  readonly id: RequirementId;
  /** Requirements that hardly can be held where this one is not: their breach may be no second fault. */
  readonly masks?: readonly RequirementId[];
  /** Each place at which it was held or not, in order; none where there was nothing to see. */
  readonly observe: (evidence: Evidence) => readonly Observation[];
  /** Of a SHOULD, when it is a failure all the same: `the tool crashes`. */
  readonly failsWhere?: string;
  /** It is about what some operations do: those that were not called may. */
  readonly isOffered?: true;
  /** Why there was nothing to see: `no callback was answered 5xx`. */
  readonly absent: string;
}

export type CheckStatus = 'pass' | 'fail' | 'warn' | 'not-applicable' | 'could-not-run';

/** What came of one requirement: one row of a report. */
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
  /** Of what is not fine, the calls that it is about: those of these events, but for what merely proves it. */
  readonly calls?: readonly ConcernedCall[];
  /** Of the first breach. */
  readonly expected?: string;
  readonly actual?: string;
  /** Where in the messages the reported violations are. */
  readonly spots?: readonly Spot[];
  /** What else may be as it is for the same reason; of a failure or a warning. */
  readonly masks?: readonly RequirementId[];
}

/** More breaches than these are counted. */
const TOLD = 3;

/** Judges the evidence of one or more recordings by a rule, each recording separately. */
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

/** Without the plans of the probes, their requests cannot be told apart from those of a runtime. */
function isPerhapsProbed({ id }: Rule, { isProbed }: Evidence): boolean {
  return isProbed && REQUIREMENTS[id].side === 'runtime';
}

function withoutBlame(observation: Observation): Observation {
  if (observation.kind !== 'broken' && observation.kind !== 'doubtful') return observation;
  return asUnseen(`${observation.what}; it may come from a probe whose plan is missing`, observation);
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

/** The row of a requirement that HTTP traffic cannot show. */
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

/** Whether a probe was planned for the requirement. */
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
