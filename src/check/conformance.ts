import type { ExpectedFailure } from '../fixtures/check-files.js';
import type { Side } from '../protocol/requirements.js';
import type { CaseCheck } from './cases.js';
import { type Check, type CheckReport, type CheckStatus, countStatuses } from './judge.js';
import { RULES } from './rules/all.js';

/**
 * How a row counts: `stale` passes although its failure is expected; `expected` fails, or could not run, as expected. Only `failed` and
 * `stale` fail a run.
 */
export type Standing =
  | 'failed'
  | 'stale'
  | 'could-not-run'
  | 'warned'
  | 'expected'
  | 'passed'
  | 'not-applicable';

export interface Row extends Check {
  readonly standing: Standing;
  readonly excuse?: ExpectedFailure;
}

/** The verdict on a whole run: zero checks never pass. */
export type Verdict = 'passed' | 'failed' | 'incomplete';

/** A part of the recording that is missing: it may hide a violation. */
export interface Gap {
  readonly place: string;
  readonly reason: string;
}

/** An expected failure that could not occur in this run. */
interface IdleExcuse extends ExpectedFailure {
  /** The reason without its id, to continue a sentence that begins with the id. */
  readonly why: string;
}

export interface Conformance {
  readonly checks: readonly Row[];
  readonly cases: readonly CaseCheck[];
  /** A run with gaps never passes. */
  readonly gaps: readonly Gap[];
  readonly idle: readonly IdleExcuse[];
  readonly summary: CheckReport['summary'];
  readonly verdict: Verdict;
}

interface Terms {
  readonly excuses: readonly ExpectedFailure[];
  readonly sides: readonly Side[];
  /** A warning counts as a failure. */
  readonly isStrict: boolean;
  readonly gaps?: readonly Gap[];
}

const STANDINGS: Readonly<Record<CheckStatus, Standing>> = {
  fail: 'failed',
  warn: 'warned',
  pass: 'passed',
  'could-not-run': 'could-not-run',
  'not-applicable': 'not-applicable',
};

/** Applies an expected failure to the status of a row. */
const EXCUSED: Readonly<Partial<Record<Standing, Standing>>> = {
  failed: 'expected',
  warned: 'expected',
  'could-not-run': 'expected',
  passed: 'stale',
};

export function conformanceOf(
  checks: readonly Check[],
  cases: readonly CaseCheck[],
  { excuses, sides, isStrict, gaps = [] }: Terms,
): Conformance {
  const rows = checks.map(check => {
    const standing = STANDINGS[isStrict && check.status === 'warn' ? 'fail' : check.status];
    const excuse = excuses.find(({ id }) => id === check.id);
    const isUncertain = check.status === 'pass' && gaps.length > 0; // it may fail in the missing part
    return excuse && !isUncertain
      ? { ...check, standing: EXCUSED[standing] ?? standing, excuse }
      : { ...check, standing };
  });
  const verdict = verdictOf(rows, cases);
  return {
    checks: rows,
    cases,
    gaps,
    idle: idleExcuses(excuses, checks, sides),
    summary: countStatuses(checks),
    verdict: verdict === 'passed' && gaps.length > 0 ? 'incomplete' : verdict,
  };
}

function verdictOf(rows: readonly Row[], cases: readonly CaseCheck[]): Verdict {
  const has = (...words: readonly (Standing | CaseCheck['status'])[]) =>
    rows.some(({ standing }) => words.includes(standing)) ||
    cases.some(({ status }) => words.includes(status));
  if (has('failed', 'stale', 'fail')) return 'failed';
  if (has('could-not-run')) return 'incomplete';
  return has('passed', 'warned', 'pass') ? 'passed' : 'incomplete';
}

function idleExcuses(
  excuses: readonly ExpectedFailure[],
  checks: readonly Check[],
  sides: readonly Side[],
): readonly IdleExcuse[] {
  return excuses.flatMap(excuse => {
    const rule = RULES[excuse.id];
    const check = checks.find(({ id }) => id === excuse.id);
    const because = (why: string) => [{ ...excuse, why }];
    if (!sides.includes(rule.side))
      return because(`is a rule of the ${rule.side}; only the ${sides.join(' and ')} is checked`);
    if ('unobservable' in rule) return because(`can never fail: ${rule.unobservable}`);
    if (!check) return because('was not selected');
    return check.status === 'not-applicable' ? because(`did not apply: ${check.reason}`) : [];
  });
}
