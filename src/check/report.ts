import type { RequirementId } from '../protocol/requirements.js';
import type { ConcernedCall } from './concerned.js';
import type { Requirement, Spot } from './rule.js';

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

/** The verdict on one test case: a row beside those of the rules. */
export interface CaseCheck extends Pick<Check, 'reason' | 'reasonLines' | 'events' | 'calls' | 'byExit'> {
  readonly place: string;
  readonly operation: string;
  readonly status: Extract<CheckStatus, 'pass' | 'fail' | 'could-not-run'>;
}

export function countStatuses(checks: readonly Check[]): CheckReport['summary'] {
  const summary = { pass: 0, fail: 0, flaky: 0, warn: 0, 'not-applicable': 0, 'could-not-run': 0 };
  for (const { status } of checks) summary[status]++;
  return summary;
}
