import type { Check, Runs } from './report.js';

/** How many times a rule that fails is tried in all: no rule fails by one observation. */
export const RUNS = 3;

/** The verdicts of a repetition on the rules that it tried again. */
export interface Repetition {
  /** From 2. */
  readonly run: number;
  readonly checks: readonly Check[];
}

interface MergeOptions {
  /** Why a rule that failed in the first run was not repeated; null if it need not be. */
  readonly whyOnce: (check: Check) => string | null;
  /** The transcript of this run, if it is saved. */
  readonly transcriptOf?: (check: Check, run: number) => string | undefined;
}

/**
 * Merges the verdicts of the first run with those of its repetitions. A rule that failed still fails if no repetition tried it, or if it
 * failed in each one that could judge it. Otherwise it is flaky, also if no repetition could judge it.
 */
export function mergeRuns(
  checks: readonly Check[],
  repetitions: readonly Repetition[],
  options: MergeOptions,
): readonly Check[] {
  return checks.map(check => {
    if (check.status !== 'fail') return check;
    const tried = repetitions.flatMap(({ run, checks: rows }) =>
      rows.filter(({ id }) => id === check.id).map(row => ({ run, ...row })),
    );
    if (tried.length === 0) {
      const why = options.whyOnce(check);
      return why === null ? check : { ...check, runs: { failed: 1, of: 1, why } };
    }
    const judged = tried.filter(({ status }) => status !== 'could-not-run' && status !== 'not-applicable');
    const others = judged.length > 0 ? judged : tried; // one observation is not enough to accuse
    const failed = 1 + others.filter(({ status }) => status === 'fail').length;
    const of = 1 + others.length;
    if (failed === of) return { ...check, runs: { failed, of } };
    return { ...check, status: 'flaky', runs: { failed, of, ...flakyRuns(check, others, options) } };
  });
}

interface Repeated extends Check {
  readonly run: number;
}

/** The transcripts to compare: of the first run, and of another one in which the rule did not fail. */
function flakyRuns(
  check: Check,
  others: readonly Repeated[],
  { transcriptOf }: MergeOptions,
): Pick<Runs, 'transcript' | 'other'> {
  const other = others.find(isSound) ?? others.find(({ status }) => status !== 'fail');
  const named = (run: number) => {
    const transcript = transcriptOf?.(check, run);
    return transcript === undefined ? {} : { transcript };
  };
  return {
    ...named(1),
    ...(other && {
      other: { run: other.run, status: other.status, events: other.events, ...named(other.run) },
    }),
  };
}

/** Whether it was tried and did not fail. */
function isSound({ status }: Check): boolean {
  return status === 'pass' || status === 'warn';
}
