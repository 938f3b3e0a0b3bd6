import { isDeepStrictEqual } from 'node:util';
import { chooseSegment, knownTypes } from '../display/segments.js';
import type { Case, CaseResult, Offer } from '../fixtures/cases.js';
import type { ExpectedFailure } from '../fixtures/expected-failures.js';
import { type Difference, wantedText } from '../fixtures/match.js';
import type { ToolResult } from '../protocol/callbacks/tool-result.js';
import type { CallbackType } from '../protocol/callbacks.js';
import { llmText, outcomeOfText } from '../protocol/outcome.js';
import type { Side } from '../protocol/requirements.js';
import { formatDuration } from '../util/format-duration.js';
import { parseJson } from '../util/json.js';
import { firstOf } from '../util/json-layout.js';
import { jsonPath } from '../util/redact-json.js';
import {
  type CallbackEvidence,
  type CallEvidence,
  type Evidence,
  eventsOf,
  type Leg,
  statusOf,
  toldAs,
} from './evidence.js';
import { type Check, type CheckStatus, type ConcernedCall, concernedBy, perhapsLost } from './judge.js';
import { type IdleExcuse, idleExcuses, reportOf } from './report.js';

/** Of what a case says that its call starts, that which did not come in a message that could be read. */
function missingOffers(offers: readonly Offer[], call: CallEvidence): readonly string[] {
  return offers
    .filter(offer => !isStarted(offer, call))
    .map(offer => `no ${MESSAGES[offer]} came, but the case expects one`);
}

const STARTS = { choice: 'user_choice', oauth: 'oauth', view: 'view_update' } as const satisfies Partial<
  Record<Offer, CallbackType>
>;
const MESSAGES: Readonly<Record<Offer, string>> = {
  ...STARTS,
  subscription: 'tool_result with subscription: true',
};

function isStarted(offer: Offer, call: CallEvidence): boolean {
  return offer === 'subscription'
    ? toldAs(call, 'tool_result').some(({ message }) => message.subscription === true)
    : toldAs(call, STARTS[offer]).length > 0;
}

/** What came of one call that is a case's. */
interface CaseVerdict {
  readonly status: Extract<CheckStatus, 'pass' | 'fail' | 'could-not-run'>;
  readonly reason: string;
  /** The reason on several lines, if it has more than one. */
  readonly reasonLines?: readonly string[];
  /** By their `seq`, the events that prove it. */
  readonly events: readonly number[];
}

/** A call against what its case expects of the result, and says that the call starts. */
function verdictOn({ expected, offers }: Case, call: CallEvidence, isWhole: boolean): CaseVerdict {
  const callback = call.callbacks.find(({ verdict }) => verdict?.kind === 'settles');
  const message = callback?.reading?.ok ? callback.reading.message : null;
  if (!callback || message?.type !== 'tool_result') return withoutResult(call, isWhole);
  const differences = (expected?.(seenIn(message)) ?? []).map(differenceText);
  const missing = missingOffers(offers, call);
  const events = eventsOf(callback);
  if (differences.length > 0) return { status: 'fail', ...reasonFor([...differences, ...missing]), events };
  if (missing.length > 0) return { ...absent(listed(missing), isWhole), events };
  return { status: 'pass', reason: 'the result is as expected', events };
}

/** What did not come is a failure; where a part of what happened is not known, it may have come. */
function absent(what: string, isWhole: boolean): Pick<CaseVerdict, 'status' | 'reason'> {
  return isWhole ? { status: 'fail', reason: what } : { status: 'could-not-run', reason: perhapsLost(what) };
}

/** Joins the errors, up to a limit. */
function listed(faults: readonly string[]): string {
  return firstOf(faults, MOST_FAULTS).join('; ');
}

function reasonFor(faults: readonly string[]): Pick<CaseVerdict, 'reason' | 'reasonLines'> {
  return {
    reason: listed(faults),
    ...(faults.length > 1 && { reasonLines: firstOf(faults, MOST_FAULTS) }),
  };
}

const MOST_FAULTS = 20;

function differenceText(difference: Difference): string {
  return `${jsonPath(difference.path)}: ${wantedText(difference)}`;
}

/** What a case can speak of: what the human sees is chosen as by a client that draws all segments there are. */
function seenIn(message: ToolResult): CaseResult {
  const text = llmText(message);
  const json = parseJson(text);
  const { chosen } = chooseSegment(message.display_as, knownTypes);
  const segment = chosen && message.display_as?.[chosen.index];
  return {
    outcome: outcomeOfText(text).type,
    text,
    ...(json.ok && { json: json.value }),
    ...(segment && { display: segment }),
    subscription: message.subscription === true,
  };
}

function withoutResult({ attempts, callbacks, expiries }: CallEvidence, isWhole: boolean): CaseVerdict {
  const last = attempts.at(-1);
  const status = last ? statusOf(last) : null;
  const legs: readonly Leg[] = [...(last ? [last] : []), ...callbacks];
  const events = legs.flatMap(eventsOf);
  if (status === null)
    return { status: 'could-not-run', reason: 'the invocation was never answered', events };
  if (status !== 200) return { status: 'fail', reason: `the invocation was answered ${status}`, events };
  if (callbacks.some(isAnothers)) return { status: 'fail', reason: ANOTHERS, events };
  const question = callbacks.find(isQuestion);
  if (question) return { status: 'could-not-run', reason: 'the call waits for a person', events };
  const [{ afterMs } = { afterMs: null }] = expiries;
  const within = afterMs === null ? '' : ` within ${formatDuration(afterMs)}`;
  return { ...absent(`no result came${within}`, isWhole), events };
}

const ANOTHERS = 'the result names another call and is ignored (TOOL-ID, RT-MATCH)';

function isAnothers({ verdict, reading }: CallbackEvidence): boolean {
  return verdict?.kind === 'discarded' && reading?.ok === true && reading.message.type === 'tool_result';
}

function isQuestion({ verdict }: CallbackEvidence): boolean {
  return verdict?.kind === 'holds';
}

/** What came of one case: a row beside those of the rules. */
export interface CaseCheck extends CaseVerdict {
  /** `file:line` */
  readonly place: string;
  readonly operation: string;
  /** Where it does not pass, the call that was made for it. */
  readonly calls?: readonly ConcernedCall[];
}

/** Of evidence, what a case can be judged by. */
type Seen = Pick<Evidence, 'calls' | 'lines' | 'isWhole' | 'isProbed'>;

/** Each case's call against what the case expects of its result, and what it says that the call starts. */
export function judgeCases(cases: readonly Case[], evidences: readonly Seen[]): readonly CaseCheck[] {
  const isCallOf = callFinder(evidences);
  const missing = isWithoutCases(evidences) ? NOT_RUN : NOT_CALLED;
  return cases.map((each, index) => {
    const { place, operation } = each;
    const verdicts = evidences.flatMap(({ calls, isWhole }) =>
      calls.filter(call => isCallOf(each, index, call)).map(call => verdictOn(each, call, isWhole)),
    );
    const verdict = worstOf(verdicts) ?? missing;
    return { place, operation, ...verdict, ...concernedIn(verdict, evidences) };
  });
}

function concernedIn({ status, events }: CaseVerdict, evidences: readonly Seen[]) {
  const calls = status === 'pass' ? [] : concernedBy(events, evidences);
  return calls.length > 0 ? { calls } : {};
}

/** Whether a call belongs to a case: by its plan, else by its operation and arguments. */
function callFinder(evidences: readonly Pick<Evidence, 'calls'>[]) {
  const arePlanned = evidences.some(({ calls }) => calls.some(isPlanned));
  return (each: Case, index: number, call: CallEvidence) =>
    arePlanned ? call.plans.some(plan => plan.case === index) : isSent(each, call);
}

/** Made for some case. */
function isPlanned({ plans }: CallEvidence): boolean {
  return plans.some(plan => plan.case !== undefined);
}

/** What a probe sends is not answered as a runtime would. */
function isSent({ operation, arguments: args }: Case, { reading, plans }: CallEvidence): boolean {
  if (!reading.ok || plans.some(({ by }) => by === 'probe')) return false;
  const { invocation } = reading;
  return invocation.operation === operation && isDeepStrictEqual(invocation.arguments, args);
}

/** Of recordings that were joined each may have a call of the same case: none of them makes up for another. */
function worstOf(verdicts: readonly CaseVerdict[]): CaseVerdict | undefined {
  const [worst] = WORST_FIRST.flatMap(kind => verdicts.find(({ status }) => status === kind) ?? []);
  return worst;
}

const WORST_FIRST = ['fail', 'could-not-run', 'pass'] as const;

const NOT_CALLED: CaseVerdict = { status: 'could-not-run', reason: 'not called', events: [] };
const NOT_RUN: CaseVerdict = {
  ...NOT_CALLED,
  reason: 'this check was recorded without cases; check the tool with --cases',
};

/** Whether a check made all the calls there are, and none of them for a case. */
function isWithoutCases(evidences: readonly Pick<Evidence, 'calls' | 'isProbed'>[]): boolean {
  const calls = evidences.flatMap(evidence => evidence.calls);
  return evidences.every(({ isProbed }) => isProbed) && calls.length > 0 && !calls.some(isPlanned);
}

/**
 * How a row counts: `stale` passes though its failure is expected, `expected` fails, or could not run, as it is expected to. Only
 * `failed` and `stale` fail a run.
 */
export type Standing =
  | 'failed'
  | 'stale'
  | 'could-not-run'
  | 'warned'
  | 'expected'
  | 'passed'
  | 'not-applicable';

/** One row, and how it counts. */
export interface Row extends Check {
  readonly standing: Standing;
  readonly excuse?: ExpectedFailure;
}

/** A whole run: zero checks are never green. */
export type Verdict = 'passed' | 'failed' | 'incomplete';

/** Where something is missing that there was: it may hide a breach. */
export interface Gap {
  /** `file:line` */
  readonly place: string;
  readonly reason: string;
}

export interface Conformance {
  readonly checks: readonly Row[];
  readonly cases: readonly CaseCheck[];
  /** With any of them nothing is green. */
  readonly gaps: readonly Gap[];
  /** What was expected to fail, and could not. */
  readonly idle: readonly IdleExcuse[];
  /** Of the rules, by status. */
  readonly summary: Readonly<Record<CheckStatus, number>>;
  readonly verdict: Verdict;
}

interface Terms {
  readonly excuses: readonly ExpectedFailure[];
  /** Whose requirements are judged. */
  readonly sides: readonly Side[];
  /** A warning counts as a failure. */
  readonly isStrict: boolean;
  /** Default: none. */
  readonly gaps?: readonly Gap[];
}

/** The rows of a run, by what is expected of them, and what they come to. */
export function conformanceOf(
  checks: readonly Check[],
  cases: readonly CaseCheck[],
  terms: Terms,
): Conformance {
  const { gaps = [] } = terms;
  const rows = checks.map(check => rowOf(check, terms));
  const { summary } = reportOf(checks);
  const idle = idleExcuses(terms.excuses, checks, terms.sides);
  const verdict = verdictOf(rows, cases);
  const isGreen = verdict === 'passed';
  return {
    checks: rows,
    cases,
    gaps,
    idle,
    summary,
    verdict: isGreen && gaps.length > 0 ? 'incomplete' : verdict,
  };
}

function rowOf(check: Check, { excuses, isStrict, gaps = [] }: Terms): Row {
  const isUncertain = check.status === 'pass' && gaps.length > 0; // it may fail as expected in the missing part
  const excuse = excuses.find(({ id }) => id === check.id);
  const standing = STANDINGS[isStrict && check.status === 'warn' ? 'fail' : check.status];
  return excuse && !isUncertain
    ? { ...check, standing: EXCUSED[standing] ?? standing, excuse }
    : { ...check, standing };
}

const STANDINGS: Readonly<Record<CheckStatus, Standing>> = {
  fail: 'failed',
  warn: 'warned',
  pass: 'passed',
  'could-not-run': 'could-not-run',
  'not-applicable': 'not-applicable',
};

/** How an expected failure changes the standing of a row. */
const EXCUSED: Readonly<Partial<Record<Standing, Standing>>> = {
  failed: 'expected',
  warned: 'expected',
  'could-not-run': 'expected',
  passed: 'stale',
};

function verdictOf(rows: readonly Row[], cases: readonly CaseCheck[]): Verdict {
  const isAny = (...standings: readonly Standing[]) =>
    rows.some(({ standing }) => standings.includes(standing));
  const isCase = (status: CaseCheck['status']) => cases.some(each => each.status === status);
  if (isAny('failed', 'stale') || isCase('fail')) return 'failed';
  if (isAny('could-not-run') || isCase('could-not-run')) return 'incomplete';
  return isAny('passed', 'warned') || isCase('pass') ? 'passed' : 'incomplete';
}
