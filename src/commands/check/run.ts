import { runProbes } from '../../probes/run-probes.js';
import { warningText } from '../../reporters/trouble.js';
import { counted } from '../../story/warnings.js';
import { systemClock } from '../../system/clock.js';
import type { ExitStatus } from '../exit-status.js';
import { PROGRAM } from '../program.js';
import type { Terminal } from '../terminal.js';
import type { Making } from './desk.js';
import { explainRules } from './explain.js';
import type { CheckFlags } from './flags.js';
import { watchTool } from './live.js';
import { type CheckPlan, planCheck } from './plan.js';
import { readWitness } from './saved.js';
import { tellSoFar } from './so-far.js';
import { tellReports } from './tell.js';
import { judgeAll, statusOfVerdict } from './verdict.js';
import { howToSeeWhole } from './whole.js';
import { recordOf, type Witness } from './witness.js';

const OURS: Making = { clock: systemClock, probes: runProbes };

/** `check`, from the flags to the exit status. */
export async function runCheck(
  word: string | undefined,
  flags: CheckFlags,
  terminal: Terminal,
  making = OURS,
): Promise<ExitStatus> {
  if (flags.list || flags.spec) return explainRules(flags, terminal);
  terminal.computes?.();
  const plan = await planCheck(word, flags, terminal);
  if (plan.subject.kind === 'transcript')
    return conclude(plan, await readWitness(plan.subject.file, terminal), terminal);
  const witness = await watchTool(plan.subject.target, plan, terminal, making);
  const { interrupted } = witness;
  if (interrupted === undefined) return conclude(plan, witness, terminal);
  await tellSoFar(plan, witness, terminal);
  return interrupted;
}

async function conclude(plan: CheckPlan, witness: Witness, terminal: Terminal): Promise<ExitStatus> {
  const run = await judgeAll(plan, witness);
  const warnings = warningsIn(witness);
  if (!plan.flags.quiet) for (const warning of warnings) terminal.stderr.write(warningText(warning));
  const status = await tellReports(
    {
      target: witness.target,
      program: PROGRAM,
      run,
      warnings: warnings.map(({ message }) => message),
      record: recordOf(witness),
      whole: howToSeeWhole(plan),
    },
    plan,
    terminal,
  );
  return statusOfVerdict(run.verdict) || status;
}

/** What was worth a word while it happened. */
function warningsIn(witness: Witness) {
  const { target, recordings, redactor } = witness;
  const several = `${target} holds ${recordings.length} transcripts, one after the other: each is judged by itself`;
  const told = recordings
    .flatMap(({ events }) => events)
    .flatMap(event => (event.kind === 'warned' ? [{ message: redactor.text(event.message) }] : []));
  return counted([...(recordings.length > 1 ? [{ message: several }] : []), ...told]);
}
