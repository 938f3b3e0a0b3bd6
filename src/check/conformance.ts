import type { ExpectedFailure } from '../fixtures/check-files.js';
import { BOTH_SIDES, type Side } from '../protocol/requirements.js';
import type { Evidence } from './evidence.js';
import type { JudgedSides } from './judge.js';
import { type CaseCheck, type Check, type CheckReport, type CheckStatus, countStatuses } from './report.js';
import { RULES } from './rules/index.js';
import { isFatalExit } from './server-end.js';

/**
 * How a rule, a case, a gap or an exit counts in the verdict on the run. `stale`: it passes although its failure is expected; `expected`:
 * it fails, or could not run, as expected. Only `failed` and `stale` fail a run.
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
export type ExitCheck = Pick<NonNullable<Evidence['exit']>, 'message' | 'calls' | 'cause' | 'proof'>;

export interface Conformance extends Pick<JudgedSides, 'missingResults'> {
  readonly checks: readonly Row[];
  readonly cases: readonly CaseCheck[];
  /** A run with gaps never passes. */
  readonly gaps: readonly Gap[];
  /** Expected failures that could not occur in this run: their rules were not judged. `why` reads after the id: `was not selected`. */
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

/** How each status of a rule or a case counts in the verdict, and how that of a rule whose failure is expected. */
const STANDINGS = {
  fail: { standing: 'failed', ifExpected: 'expected' },
  flaky: { standing: 'flaky', ifExpected: 'expected' },
  warn: { standing: 'warned', ifExpected: 'expected' },
  pass: { standing: 'passed', ifExpected: 'stale' },
  'could-not-run': { standing: 'could-not-run', ifExpected: 'expected' },
  'not-applicable': { standing: 'not-applicable', ifExpected: 'not-applicable' },
} as const satisfies Record<CheckStatus, { standing: Standing; ifExpected: Standing }>;

export function conformanceOf(
  checks: readonly Check[],
  cases: readonly CaseCheck[] = [],
  {
    expectedFailures = [],
    sides = BOTH_SIDES,
    isStrict = false,
    gaps = [],
    scenarios = [],
    missingResults = null,
    exit = null,
  }: ConformanceOptions = {},
): Conformance {
  const rows = checks.map((check): Row => {
    const { standing, ifExpected } = STANDINGS[isStrict && check.status === 'warn' ? 'fail' : check.status];
    const expectedFailure = expectedFailures.find(({ id }) => id === check.id);
    const isUncertain = check.status === 'pass' && gaps.length > 0; // it may fail in the missing part
    return expectedFailure && !isUncertain
      ? { ...check, standing: ifExpected, expectedFailure }
      : { ...check, standing };
  });
  return {
    checks: rows,
    cases,
    gaps,
    idle: idleFailures(expectedFailures, checks, sides),
    scenarios,
    missingResults,
    exit: exit && reportedExit(exit),
    summary: countStatuses(checks),
    verdict: verdictOf([
      ...rows.map(({ standing }) => standing),
      ...cases.map(({ status }) => STANDINGS[status].standing),
      ...gaps.map(() => 'could-not-run' as const),
      ...(exit ? [standingOfExit(exit, rows)] : []),
    ]),
  };
}

/** The exit of a server fails the run, unless rules failed because of it: they decide, since their failure may be expected. */
function standingOfExit(exit: ExitCheck, rows: readonly Row[]): Standing {
  const isJudged = rows.some(({ byExit, status }) => byExit && status !== 'could-not-run');
  return isFatalExit(exit) && !isJudged ? 'failed' : 'could-not-run';
}

function verdictOf(standings: readonly Standing[]): Verdict {
  const has = (...wanted: readonly Standing[]) => standings.some(standing => wanted.includes(standing));
  if (has('failed', 'stale')) return 'failed';
  if (has('could-not-run', 'flaky')) return 'incomplete';
  return has('passed', 'warned') ? 'passed' : 'incomplete';
}

/** Without the evidence: a report has these members only. */
function reportedExit({ message, calls, cause, proof }: ExitCheck): ExitCheck {
  return { message, calls, cause, proof };
}

function idleFailures(
  expectedFailures: readonly ExpectedFailure[],
  checks: readonly Check[],
  sides: readonly Side[],
): Conformance['idle'] {
  return expectedFailures.flatMap(expectedFailure => {
    const why = whyIdle(expectedFailure, checks, sides);
    return why === null ? [] : [{ ...expectedFailure, why }];
  });
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
