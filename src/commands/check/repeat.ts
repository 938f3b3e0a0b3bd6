import { extname, join } from 'node:path';
import type { Recording } from '../../check/evidence.js';
import { type JudgedSides, judgeSides } from '../../check/judge.js';
import { mergeRuns, type Repetition, RUNS } from '../../check/repeats.js';
import type { Check } from '../../check/report.js';
import type { Event } from '../../events/events.js';
import { asTrouble } from '../run.js';
import { requireFreePath } from '../transcript-file.js';
import type { CheckPlan } from './plan.js';

/** A repetition of what failed in the first run. */
export interface Repeat {
  /** From 2. */
  readonly run: number;
  readonly failed: readonly Check[];
}

/** What is known of the first run, with the verdicts of all runs. */
export interface Judged extends JudgedSides {
  /** The events of each repetition. */
  readonly repeats: readonly (readonly Event[])[];
}

/** Judges what happened once. @param why it was not repeated */
export async function judgeOnce(
  recordings: readonly Recording[],
  { sides, selection, expectedFailures }: CheckPlan,
  why: string,
): Promise<Judged> {
  const judged = await judgeSides(recordings, sides, selection);
  const whyOnce = (check: Check) => (isSettled(check, expectedFailures) ? null : why);
  return { ...judged, checks: mergeRuns(judged.checks, [], { whyOnce }), repeats: [] };
}

/** Whether a failure is expected, or by the exit of a server, whose cause was repeated alone. */
function isSettled({ id, byExit }: Check, expectedFailures: CheckPlan['expectedFailures']): boolean {
  return byExit === true || expectedFailures.some(each => each.id === id);
}

const CASE_ONCE =
  'a case is called once, unless its operation is given with --operation, or marked readOnly and neither destructive nor longRunning nor requiresAuth';

/**
 * Judges a first run, and repeats that in which a rule failed. A failure that is expected is not repeated.
 * @param tryAgain throws a ProtocolCliError if that is not possible: the tool ended, or the user interrupts
 */
export async function judgeWithRepeats(
  first: readonly Recording[],
  plan: CheckPlan,
  tryAgain: (repeat: Repeat) => Promise<readonly Recording[]>,
): Promise<Judged> {
  const { sides, selection, expectedFailures } = plan;
  const judged = await judgeSides(first, sides, selection);
  const replaced = judged.evidences
    .map(({ exit }) => exit)
    .find(exit => exit?.proof.kind === 'refused' && exit.proof.returned === 'other');
  const failed = judged.checks.filter(
    check => check.status === 'fail' && !isSettled(check, expectedFailures) && !replaced,
  );
  const only = new Set(failed.map(({ id }) => id));
  const repetitions: Repetition[] = [];
  const repeats: (readonly Event[])[] = [];
  let why = replaced ? `not repeated: ${replaced.message}` : CASE_ONCE;
  for (let run = 2; run <= RUNS && failed.length > 0; run++) {
    const again = await tryAgain({ run, failed }).catch(asTrouble);
    if (again instanceof Error) {
      why = `not repeated: ${again.message}`;
      break;
    }
    repeats.push(again.flatMap(({ events }) => events));
    const { checks, evidences } = await judgeSides(again, sides, { only });
    const exit = evidences.map(evidence => evidence.exit).find(Boolean);
    if (exit) why = `not repeated: ${exit.message}`;
    const tried = failed.filter(check => wasTried(check, evidences)).map(({ id }) => id);
    repetitions.push({ run, checks: checks.filter(({ id, byExit }) => tried.includes(id) && !byExit) });
  }
  return {
    ...judged,
    checks: mergeRuns(judged.checks, repetitions, {
      whyOnce: check => (isSettled(check, expectedFailures) ? null : why),
      transcriptOf: (check, run) => transcriptOf(plan, check, run),
    }),
    repeats,
  };
}

/** Whether a probe in which a rule failed ran: a case with side effects is not repeated. */
function wasTried({ probes }: Check, evidences: JudgedSides['evidences']): boolean {
  if (!probes) return true;
  const plans = evidences.flatMap(each => each.plans);
  return plans.some(({ plan, calls }) => calls && probes.includes(plan));
}

/** The transcript of a run, if it is saved; of a runtime, that of the first scenario in which the rule failed. */
function transcriptOf({ subject, flags: { save } }: CheckPlan, { scenarios }: Check, run: number) {
  if (save === undefined || subject.kind !== 'runtime') return save && nameOfRun(save, run);
  const [scenario] = scenarios ?? [];
  return scenario && nameOfRun(join(save, `${scenario}.ndjson`), run);
}

/** `check.ndjson` for the first run, `check.2.ndjson` for the second. */
export function nameOfRun(path: string, run: number): string {
  const extension = extname(path);
  return run === 1 ? path : `${path.slice(0, path.length - extension.length)}.${run}${extension}`;
}

/** Finds out before the first run whether the transcripts of all runs can be written. @throws ProtocolCliError `unwritable-file` */
export async function requireFreePaths(path: string): Promise<void> {
  for (let run = 1; run <= RUNS; run++) await requireFreePath(nameOfRun(path, run));
}
