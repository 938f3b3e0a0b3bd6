import { countEnds, missingResultsSummary } from '../events/call-ends.js';
import type { Event } from '../events/events.js';
import type { Observer, Transcript } from '../events/transcript-reader.js';
import type { ExpectedFailure } from '../fixtures/check-files.js';
import { REQUIREMENT_IDS, type RequirementId, type Side } from '../protocol/requirements.js';
import { groupBy } from '../util/collections.js';
import { firstWithRest, joinFirst } from '../util/text.js';
import { type Judgement, withCauses } from './causes.js';
import {
  type ConcernedCall,
  concernedCalls,
  concernedProbes,
  type Evidence,
  gatherEvidence,
  type Recording,
  recordingsOf,
} from './evidence.js';
import { observe } from './observe.js';
import type { ObservableRule, Observation, Requirement, Rule, Spot } from './rule.js';
import { contentRules } from './rules/contents.js';
import { conversationRules } from './rules/conversation.js';
import { deliveryRules } from './rules/delivery.js';
import { extraMemberRules } from './rules/extra-members.js';
import { invocationRules } from './rules/invocations.js';
import { runtimeAcknowledgementRules } from './rules/runtime-acknowledgements.js';
import { runtimeConversationRules } from './rules/runtime-conversation.js';
import { runtimeNoticeRules } from './rules/runtime-notices.js';
import { runtimeOrderRules } from './rules/runtime-order.js';
import { runtimeRequestRules } from './rules/runtime-requests.js';
import { runtimeResultRules } from './rules/runtime-results.js';
import { isFatalExit } from './server-end.js';

/** A requirement id without a rule does not compile. */
const BY_THEME: Readonly<Record<RequirementId, Rule>> = {
  ...contentRules,
  ...conversationRules,
  ...deliveryRules,
  ...extraMemberRules,
  ...invocationRules,
  ...runtimeRequestRules,
  ...runtimeAcknowledgementRules,
  ...runtimeNoticeRules,
  ...runtimeOrderRules,
  ...runtimeResultRules,
  ...runtimeConversationRules,
};

/** Every rule by its id, in the order of the protocol. */
export const RULES = Object.fromEntries(REQUIREMENT_IDS.map(id => [id, BY_THEME[id]])) as typeof BY_THEME;

/**
 * What each side of the protocol must do. Messages, tests and checks refer to a requirement by its id.
 * @example
 * const { level, statement } = REQUIREMENTS['TOOL-ACK'];
 */
export const REQUIREMENTS: Readonly<Record<RequirementId, Requirement>> = { ...RULES };

/** `flaky`: it failed in one run and not in another one, so it neither passed nor failed. */
export type CheckStatus = 'pass' | 'fail' | 'flaky' | 'warn' | 'not-applicable' | 'could-not-run';

/** In how many runs a rule failed, the first run and its repetitions. */
export interface Runs {
  readonly failed: number;
  readonly of: number;
  /** Why it was not repeated. */
  readonly why?: string;
  /** The transcript of the first run, in which it failed. */
  readonly transcript?: string;
  /** Of a flaky rule: a run in which it did not fail. */
  readonly other?: OtherRun;
}

/** Another run of a flaky rule. */
export interface OtherRun extends Pick<Check, 'status' | 'events'> {
  /** From 2. */
  readonly run: number;
  readonly transcript?: string;
}

/** The verdict on one requirement: one row of a report. */
export interface Check extends Pick<Requirement, 'side' | 'level'> {
  readonly id: RequirementId;
  readonly status: CheckStatus;
  readonly reason: string;
  /** The reason on several lines, if it has more than one. */
  readonly reasonLines?: readonly string[];
  /** It passes, but the report should show its reason. */
  readonly isRemarkable?: true;
  /** By their `seq`, the events that prove it. */
  readonly events: readonly number[];
  /** The names of the scenarios in which a runtime did not pass. */
  readonly scenarios?: readonly string[];
  /** The probes in whose calls a tool did not pass. */
  readonly probes?: readonly string[];
  /** If it failed in `check`: whether it did so each time. */
  readonly runs?: Runs;
  /** The calls concerned, if it does not pass. */
  readonly calls?: readonly ConcernedCall[];
  readonly expected?: string;
  readonly actual?: string;
  /** How to fix it, if the events show more than the advice of the rule. */
  readonly advice?: string;
  /** The places in the messages of the reported violations. */
  readonly spots?: readonly Spot[];
  /** The failed requirement because of which it could not run. */
  readonly cause?: RequirementId;
  /** It does not pass because the server exited. */
  readonly byExit?: true;
}

/**
 * The verdict on all requirements.
 * @example
 * const failed = ({ checks }: CheckReport) => checks.filter(({ status }) => status === 'fail');
 */
export interface CheckReport {
  /** One row per requirement, in the order of the protocol. */
  readonly checks: readonly Check[];
  readonly summary: Readonly<Record<CheckStatus, number>>;
}

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

const BOTH: readonly Side[] = ['tool', 'runtime'];

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
  { sides = BOTH, observer = 'runtime', isWhole = true, ...selection }: CheckOptions = {},
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
  const recorded = first.filter(({ isProbed, view }) => !isProbed && view === null);
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

function countStatuses(checks: readonly Check[]): CheckReport['summary'] {
  const summary = { pass: 0, fail: 0, flaky: 0, warn: 0, 'not-applicable': 0, 'could-not-run': 0 };
  for (const { status } of checks) summary[status]++;
  return summary;
}

function isOpen({ status }: Pick<Check, 'status'>): boolean {
  return status !== 'pass' && status !== 'not-applicable';
}

/** Limits of a reason: violations, kinds of them, and names or errors per kind. */
const MAX_SHOWN = 3;

/** Errors of one kind where each has a line of its own. */
const MAX_LINES = 10;

const WORST_FIRST = ['violated', 'unrecorded', 'doubtful', 'met', 'inconclusive'] as const;

/** Judges one or more recordings by a rule, each recording separately. */
export function judge(rule: Rule, ...evidences: readonly Evidence[]): Check {
  return judgeRule(rule, evidences).check;
}

function judgeRule(rule: Rule, evidences: readonly Evidence[]): Judgement<Check> {
  const { id, side, level } = rule;
  const about = { id, side, level };
  const notApplicable = (reason: string): Judgement<Check> => ({
    rule,
    check: { ...about, status: 'not-applicable', reason, events: [] },
    observations: [],
  });
  if ('unobservable' in rule) return notApplicable(rule.unobservable);
  const able = evidences.filter(({ view }) => view?.supports(...(rule.needs ?? [])) ?? true);
  if (able.length < Math.min(1, evidences.length)) return notApplicable(unsupported(rule, evidences));
  const observations = able.flatMap(evidence => observe(rule, evidence));
  const worst = WORST_FIRST.find(kind => observations.some(each => each.kind === kind));
  const found = observations.filter(({ kind }) => kind === worst);
  const shown = found.slice(0, MAX_SHOWN);
  const status = found.some(({ isFatal }) => isFatal) ? 'fail' : statusOf(worst, rule, able);
  const spots = shown.flatMap(each => each.spots ?? []);
  const remarks = found.filter(({ isRemarkable }) => isRemarkable);
  const absent = able.length < evidences.length ? unsupported(rule, evidences) : rule.absent;
  const check: Check = {
    ...about,
    status,
    ...(found.length > 0 ? reasonOf(remarks.length > 0 ? remarks : found) : { reason: absent }),
    ...(remarks.length > 0 && { isRemarkable: true }),
    events: [...new Set(shown.flatMap(each => each.events))],
    ...(isOpen({ status }) && concernOf(found, rule, status, evidences)), // other ids differ in each run
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

/** Whether a rule does not pass because the server exited: by the exit itself, or since what would show it was cut off. */
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
    ? found.every(({ isCutOff, events }) => isCutOff || events.some(seq => exit.cutOff.has(seq)))
    : plans.some(({ plan, checks = [] }) => checks.includes(id) && exit.cutPlans.has(plan));
}

/**
 * The calls that observations are about, and their scenarios and probes; without observations, the scenarios that should have shown
 * something. Also whether the exit of a server is the reason.
 */
function concernOf(
  found: readonly Observation[],
  { id }: Rule,
  status: CheckStatus,
  evidences: readonly Evidence[],
): Pick<Check, 'scenarios' | 'probes' | 'calls' | 'byExit'> {
  const eventsOf = (observations: readonly Observation[]) =>
    new Set(observations.flatMap(each => each.about ?? each.events));
  const calls = concernedCalls(eventsOf(found.slice(0, MAX_SHOWN)), evidences);
  const probes = concernedProbes(eventsOf(found), evidences);
  const planned = evidences.flatMap(({ view }) => (view?.checks.includes(id) ? [view.scenario] : []));
  const scenarios = found.length > 0 ? found.flatMap(({ scenario }) => scenario ?? []) : planned;
  return {
    ...(scenarios.length > 0 && { scenarios: [...new Set(scenarios)] }),
    ...(probes.length > 0 && { probes }),
    ...(calls.length > 0 && { calls }),
    ...(evidences.some(evidence => isByExit(id, status, found, evidence)) && { byExit: true }),
  };
}

/** Names what the driver of a runtime cannot do or see. */
function unsupported({ needs = [] }: ObservableRule, evidences: readonly Evidence[]): string {
  const missing = needs.filter(each => evidences.some(({ view }) => view?.supports(each) === false));
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

/** Each kind of observation (those with the same words) once, with its first names and errors. */
export function reasonOf(observations: readonly Observation[]): Pick<Check, 'reason' | 'reasonLines'> {
  const kinds = [...groupBy(observations, ({ what }) => (what === undefined ? [] : [what]))].map(kindOf);
  if (kinds.length === 0)
    return { reason: `seen ${observations.length === 1 ? 'once' : `${observations.length} times`}` };
  const sentences = firstWithRest(
    kinds.map(({ sentence }) => sentence),
    MAX_SHOWN,
  );
  const lines = [...kinds.slice(0, MAX_SHOWN).flatMap(kind => kind.lines), ...sentences.slice(MAX_SHOWN)];
  return { reason: sentences.join('; '), ...(lines.length > 1 && { reasonLines: lines }) };
}

function kindOf([what, observations]: readonly [string, readonly Observation[]]) {
  const names = new Set(observations.flatMap(({ name }) => name ?? []));
  const faults = [...new Set(observations.flatMap(each => each.faults ?? []))];
  const title = names.size === 0 ? what : `${what}: ${joinFirst([...names], MAX_SHOWN)}`;
  const sentence = faults.length === 0 ? title : `${title}: ${firstWithRest(faults, MAX_SHOWN).join('; ')}`;
  const indented = firstWithRest(faults, MAX_LINES).map(fault => `  ${fault}`);
  return { sentence, lines: faults.length < 2 ? [sentence] : [`${title}:`, ...indented] };
}

/** The verdict on one test case: a row beside those of the rules. */
export interface CaseCheck extends Pick<Check, 'reason' | 'reasonLines' | 'events' | 'calls' | 'byExit'> {
  readonly place: string;
  readonly operation: string;
  readonly status: Extract<CheckStatus, 'pass' | 'fail' | 'could-not-run'>;
}

/**
 * How a row counts: `stale` passes although its failure is expected; `expected` fails, or could not run, as expected. Only `failed` and
 * `stale` fail a run.
 */
export type Standing =
  | 'failed'
  | 'stale'
  | 'flaky'
  | 'could-not-run'
  | 'warned'
  | 'expected'
  | 'passed'
  | 'not-applicable';

export interface Row extends Check {
  readonly standing: Standing;
  readonly expectedFailure?: ExpectedFailure;
}

/** The verdict on a whole run: zero checks never pass. */
export type Verdict = 'passed' | 'failed' | 'incomplete';

/** A part of the recording that is missing: it may hide a violation. */
interface Gap {
  readonly place: string;
  readonly reason: string;
}

/** A scenario of `check --runtime`, and how long it took. */
interface ScenarioTime {
  readonly id: string;
  readonly ms: number;
  /** If it was not run: what it needs and the driver does not support. */
  readonly unsupported?: readonly string[];
}

/** The end of a server: the cause of what did not pass because of it. */
type ExitCheck = Pick<
  NonNullable<Evidence['exit']>,
  'message' | 'output' | 'returned' | 'calls' | 'cause' | 'isRepeated' | 'repeats'
>;

export interface Conformance extends Pick<JudgedSides, 'missingResults'> {
  readonly checks: readonly Row[];
  readonly cases: readonly CaseCheck[];
  /** A run with gaps never passes. */
  readonly gaps: readonly Gap[];
  /** Expected failures that could not occur in this run, and why, without their id. */
  readonly idle: readonly (ExpectedFailure & { readonly why: string })[];
  readonly scenarios: readonly ScenarioTime[];
  readonly exit: ExitCheck | null;
  readonly summary: CheckReport['summary'];
  readonly verdict: Verdict;
}

interface ConformanceOptions {
  readonly expectedFailures?: readonly ExpectedFailure[];
  readonly sides?: readonly Side[];
  /** A warning counts as a failure. */
  readonly isStrict?: boolean;
  readonly gaps?: readonly Gap[];
  readonly scenarios?: readonly ScenarioTime[];
  readonly missingResults?: string | null;
  readonly exit?: ExitCheck | null;
}

/** How each status counts, and how if its failure is expected. */
const STANDINGS: Readonly<Record<CheckStatus, readonly [Standing, ifExpected: Standing]>> = {
  fail: ['failed', 'expected'],
  flaky: ['flaky', 'expected'],
  warn: ['warned', 'expected'],
  pass: ['passed', 'stale'],
  'could-not-run': ['could-not-run', 'expected'],
  'not-applicable': ['not-applicable', 'not-applicable'],
};

export function conformanceOf(
  checks: readonly Check[],
  cases: readonly CaseCheck[] = [],
  {
    expectedFailures = [],
    sides = BOTH,
    isStrict = false,
    gaps = [],
    scenarios = [],
    missingResults = null,
    exit = null,
  }: ConformanceOptions = {},
): Conformance {
  const rows = checks.map((check): Row => {
    const [standing, ifExpected] = STANDINGS[isStrict && check.status === 'warn' ? 'fail' : check.status];
    const expectedFailure = expectedFailures.find(({ id }) => id === check.id);
    const isUncertain = check.status === 'pass' && gaps.length > 0; // it may fail in the missing part
    return expectedFailure && !isUncertain
      ? { ...check, standing: ifExpected, expectedFailure }
      : { ...check, standing };
  });
  const verdict = verdictOf(rows, cases, exit);
  return {
    checks: rows,
    cases,
    gaps,
    idle: expectedFailures.flatMap(expectedFailure => {
      const why = whyIdle(expectedFailure, checks, sides);
      return why === null ? [] : [{ ...expectedFailure, why }];
    }),
    scenarios,
    missingResults,
    exit: exit && exitCheck(exit),
    summary: countStatuses(checks),
    verdict: verdict === 'passed' && gaps.length > 0 ? 'incomplete' : verdict,
  };
}

function exitCheck({ message, output, returned, calls, cause, isRepeated, repeats }: ExitCheck): ExitCheck {
  return { message, output, returned, calls, cause, isRepeated, repeats };
}

function verdictOf(rows: readonly Row[], cases: readonly CaseCheck[], exit: ExitCheck | null): Verdict {
  const seen = new Set([...rows.map(({ standing }) => standing), ...cases.map(({ status }) => status)]);
  const has = (...words: readonly (Standing | CaseCheck['status'])[]) => words.some(word => seen.has(word));
  const isJudged = rows.some(({ byExit, status }) => byExit && status !== 'could-not-run'); // its failure may be expected
  if (has('failed', 'stale', 'fail') || (exit && isFatalExit(exit) && !isJudged)) return 'failed';
  if (has('could-not-run', 'flaky') || exit) return 'incomplete';
  return has('passed', 'warned', 'pass') ? 'passed' : 'incomplete';
}

function whyIdle({ id }: ExpectedFailure, checks: readonly Check[], sides: readonly Side[]): string | null {
  const rule = RULES[id];
  const check = checks.find(each => each.id === id);
  if (!sides.includes(rule.side))
    return `is a rule of the ${rule.side}; only the ${sides.join(' and ')} is checked`;
  if ('unobservable' in rule) return `can never fail: ${rule.unobservable}`;
  if (!check) return 'was not selected';
  return check.status === 'not-applicable' ? `did not apply: ${check.reason}` : null;
}
