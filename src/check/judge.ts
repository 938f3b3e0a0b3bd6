import { countEnds, missingResultsSummary } from '../events/call-ends.js';
import type { Event } from '../events/events.js';
import type { Observer, Transcript } from '../events/transcript-reader.js';
import { BOTH_SIDES, REQUIREMENT_IDS, type RequirementId, type Side } from '../protocol/requirements.js';
import { joinFirst } from '../util/text.js';
import { type Judgement, withCauses } from './causes.js';
import { concernedCalls, concernedProbes } from './concerned.js';
import { type Evidence, gatherEvidence, type Recording, recordingsOf } from './evidence.js';
import { observe } from './observe.js';
import { MAX_SHOWN, reasonOf } from './reason.js';
import { type Check, type CheckReport, type CheckStatus, countStatuses } from './report.js';
import type { ObservableRule, Observation, Rule } from './rule.js';
import { RULES } from './rules/index.js';

/**
 * What to judge.
 * @example
 * const options: CheckOptions = { sides: ['tool'], skip: new Set(['TOOL-RATE']) };
 */
export interface CheckOptions {
  /** Which requirements to judge; default: all. */
  readonly only?: ReadonlySet<RequirementId>;
  readonly skip?: ReadonlySet<RequirementId>;
  /** Whose requirements; default: both sides. */
  readonly sides?: readonly Side[];
  /** The recorder of bare events; default: a runtime. A transcript has it in its header. */
  readonly observer?: Observer;
  /** False if bare events are incomplete: then missing events are not violations. */
  readonly isWhole?: boolean;
}

/**
 * Judges what happened by the requirements of the protocol: one row for each, with the events that prove it. It makes no difference
 * whether the events are from a live run, a recording or a saved transcript. Several transcripts, as `readTranscripts` returns them,
 * are judged separately. Missing parts of a transcript are not violations.
 * @example
 * const lines = (await readFile('run.ndjson', 'utf8')).split('\n');
 * const { checks, summary } = await checkTranscript(readTranscript(lines), { sides: ['tool'] });
 * for (const { id, reason } of checks.filter(({ status }) => status === 'fail')) console.log(id, reason);
 */
export async function checkTranscript(
  source: readonly Event[] | Transcript | readonly Transcript[],
  { sides = BOTH_SIDES, observer = 'runtime', isWhole = true, ...selection }: CheckOptions = {},
): Promise<CheckReport> {
  const recordings: readonly Recording[] = isEvents(source)
    ? [{ observer, events: source, isWhole }]
    : recordingsOf([source].flat());
  const { checks } = await judgeSides(recordings, sides, selection);
  return { checks, summary: countStatuses(checks) };
}

type Selection = Pick<CheckOptions, 'only' | 'skip'>;

export interface JudgedSides {
  readonly checks: readonly Check[];
  /** Of the first side. */
  readonly evidences: readonly Evidence[];
  /** How many recorded calls have no result; null if all have one. A check itself makes calls that need none. */
  readonly missingResults: string | null;
}

/** The rows of several sides. */
export async function judgeSides(
  recordings: readonly Recording[],
  sides: readonly Side[],
  selection: Selection,
): Promise<JudgedSides> {
  const [first = [], ...others] = await Promise.all(
    sides.map(side => Promise.all(recordings.map(recording => gatherEvidence(recording, side)))),
  );
  const checks = [first, ...others].flatMap((each, index) =>
    checksOf(sides[index] ?? 'tool', each, selection),
  );
  const recorded = first.filter(({ isProbed, driver }) => !isProbed && driver === null);
  const missingResults = missingResultsSummary(countEnds(recorded.flatMap(({ calls }) => calls)));
  return { checks, evidences: first, missingResults };
}

function isEvents(source: readonly Event[] | Transcript | readonly Transcript[]): source is readonly Event[] {
  return Array.isArray(source) && source.every(each => 'kind' in each);
}

/** The rows of one side. @param evidences one per recording, judged separately */
export function checksOf(
  side: Side,
  evidences: readonly Evidence[],
  { only, skip }: Selection = {},
): readonly Check[] {
  const judged = REQUIREMENT_IDS.filter(id => RULES[id].side === side)
    .filter(id => (only?.has(id) ?? true) && !skip?.has(id))
    .map(id => judgeRule(RULES[id], evidences));
  return withCauses(judged, evidences);
}

const WORST_FIRST = ['violated', 'unrecorded', 'doubtful', 'met', 'inconclusive'] as const;

function judgeRule(rule: Rule, evidences: readonly Evidence[]): Judgement<Check> {
  const { id, side, level } = rule;
  const about = { id, side, level };
  const notApplicable = (reason: string): Judgement<Check> => ({
    rule,
    check: { ...about, status: 'not-applicable', reason, events: [] },
    observations: [],
  });
  if ('unobservable' in rule) return notApplicable(rule.unobservable);
  const able = evidences.filter(({ driver }) => driver?.supports(...(rule.needs ?? [])) ?? true);
  if (able.length === 0 && evidences.length > 0) return notApplicable(unsupported(rule, evidences));
  const observations = able.flatMap(evidence => observe(rule, evidence));
  const worst = WORST_FIRST.find(kind => observations.some(each => each.kind === kind));
  const found = observations.filter(({ kind }) => kind === worst);
  const shown = found.slice(0, MAX_SHOWN);
  const status = found.some(({ isFatal }) => isFatal) ? 'fail' : statusOf(worst, rule, able);
  const isUnmet = status !== 'pass' && status !== 'not-applicable';
  const spots = shown.flatMap(each => each.spots ?? []);
  const remarks = found.filter(({ isRemarkable }) => isRemarkable);
  const absent = able.length < evidences.length ? unsupported(rule, evidences) : rule.absent;
  const check: Check = {
    ...about,
    status,
    ...(found.length > 0 ? reasonOf(remarks.length > 0 ? remarks : found) : { reason: absent }),
    ...(remarks.length > 0 && { isRemarkable: true }),
    events: [...new Set(shown.flatMap(each => each.events))],
    ...(isUnmet && concernOf(found, rule, evidences)), // other ids differ in each run
    ...(isUnmet && evidences.some(each => isByExit(id, status, found, each)) && { byExit: true }),
    ...detailsOf(found[0]),
    ...(spots.length > 0 && { spots }),
  };
  return { rule, check, observations };
}

function detailsOf({
  expected,
  actual,
  advice,
}: Partial<Observation> = {}): Pick<Check, 'expected' | 'actual' | 'advice'> {
  return {
    ...(expected !== undefined && { expected }),
    ...(actual !== undefined && { actual }),
    ...(advice !== undefined && { advice }),
  };
}

/** Whether a rule does not pass because the server exited: by the exit itself, or since it interrupted what would show it. */
function isByExit(
  id: RequirementId,
  status: CheckStatus,
  found: readonly Observation[],
  { exit, plans }: Evidence,
): boolean {
  if (!exit) return false;
  if (status === 'fail' || status === 'warn') return found.every(({ events }) => events.includes(exit.seq));
  if (status !== 'could-not-run') return false;
  return found.length > 0
    ? found.every(
        ({ isInterrupted, events }) => isInterrupted || events.some(seq => exit.interruptedEvents.has(seq)),
      )
    : plans.some(({ plan, checks = [] }) => checks.includes(id) && exit.interruptedPlans.has(plan));
}

/**
 * The calls that observations are about, and their scenarios and probes; without observations, the scenarios that should have shown
 * something.
 */
function concernOf(
  found: readonly Observation[],
  { id }: Rule,
  evidences: readonly Evidence[],
): Pick<Check, 'scenarios' | 'probes' | 'calls'> {
  const eventsOf = (observations: readonly Observation[]) =>
    new Set(observations.flatMap(each => each.about ?? each.events));
  const calls = concernedCalls(eventsOf(found.slice(0, MAX_SHOWN)), evidences);
  const probes = concernedProbes(eventsOf(found), evidences);
  const planned = evidences.flatMap(({ driver }) => (driver?.checks.includes(id) ? [driver.scenario] : []));
  const scenarios = found.length > 0 ? found.flatMap(({ scenario }) => scenario ?? []) : planned;
  return {
    ...(scenarios.length > 0 && { scenarios: [...new Set(scenarios)] }),
    ...(probes.length > 0 && { probes }),
    ...(calls.length > 0 && { calls }),
  };
}

/** Names what the driver of a runtime cannot do or see. */
function unsupported({ needs = [] }: ObservableRule, evidences: readonly Evidence[]): string {
  const missing = needs.filter(each => evidences.some(({ driver }) => driver?.supports(each) === false));
  return `the driver does not support ${joinFirst(missing.length > 0 ? missing : needs, MAX_SHOWN)}`;
}

const STATUSES = { unrecorded: 'could-not-run', doubtful: 'warn', met: 'pass' } as const;

function statusOf(
  worst: Observation['kind'] | undefined,
  { id, level }: Rule,
  evidences: readonly Evidence[],
): CheckStatus {
  if (worst === 'violated') return level === 'MUST' ? 'fail' : 'warn';
  if (worst !== undefined && worst !== 'inconclusive') return STATUSES[worst];
  const isPlanned = evidences.some(({ plans }) => plans.some(({ checks = [] }) => checks.includes(id)));
  return isPlanned ? 'could-not-run' : 'not-applicable';
}
