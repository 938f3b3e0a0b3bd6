import type { ExpectedFailure } from '../fixtures/expected-failures/expected-failure.js';
import type { Side } from '../protocol/requirements.js';
import type { CaseCheck } from './cases.js';
import { type IdleExcuse, idleExcuses } from './idle-excuses.js';
import type { Check, CheckStatus } from './judge.js';
import { reportOf } from './report.js';

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

export interface Terms {
  readonly excuses: readonly ExpectedFailure[];
  /** Whose requirements are judged. */
  readonly sides: readonly Side[];
  /** A warning counts as a failure. */
  readonly isStrict: boolean;
  /** None unless told. */
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
  const isUncertain = check.status === 'pass' && gaps.length > 0; // it may fail as expected where nobody sees it
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

/** What nobody could see is neither as expected nor otherwise. */
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
