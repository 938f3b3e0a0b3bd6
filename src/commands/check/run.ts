import { runProbes } from '../../probes/run-probes.js';
import { warningText } from '../../reporters/trouble.js';
import { counted } from '../../story/warnings.js';
import { systemClock } from '../../system/clock.js';
import type { ExitStatus } from '../exit-status.js';
import { PROGRAM } from '../program.js';
import type { Terminal } from '../terminal.js';
import { explainRules } from './explain.js';
import type { CheckFlags } from './flags.js';
import { type Making, watchTool } from './live.js';
import { type CheckPlan, planCheck } from './plan.js';
import { readWitness } from './saved.js';
import { tellSoFar } from './so-far.js';
import { tellReports } from './tell.js';
import { judgeAll, statusOfVerdict } from './verdict.js';
import type { Witness } from './witness.js';

const OURS: Making = { clock: systemClock, probes: runProbes };

/** `check`, from the flags to the exit status. */
export async function runCheck(
  word: string | undefined,
  flags: CheckFlags,
  terminal: Terminal,
  making = OURS,
): Promise<ExitStatus> {
  if (flags.list || flags.spec) return explainRules(flags, terminal);
  const plan = await planCheck(word, flags, terminal);
  if (plan.subject.kind === 'transcript') return judgeSaved(plan.subject.file, plan, terminal);
  const witness = await watchTool(plan.subject.target, plan, terminal, making);
  const { interrupted } = witness;
  if (interrupted === undefined) return conclude(plan, witness, terminal);
  await tellSoFar(plan, witness, terminal);
  return interrupted;
}

/** What could be read of a broken transcript counts; what could not is told. */
async function judgeSaved(file: string, plan: CheckPlan, terminal: Terminal): Promise<ExitStatus> {
  const witness = await readWitness(file, terminal);
  for (const fault of witness.faults)
    terminal.stderr.write(warningText({ message: `${witness.target}: ${fault}; it is left out` }));
  return conclude(plan, witness, terminal);
}

async function conclude(plan: CheckPlan, witness: Witness, terminal: Terminal): Promise<ExitStatus> {
  const run = await judgeAll(plan, witness);
  const warnings = warningsIn(witness);
  if (!plan.flags.quiet) for (const warning of warnings) terminal.stderr.write(warningText(warning));
  const { target, events, redactor } = witness;
  const status = await tellReports(
    {
      target,
      program: PROGRAM,
      run,
      warnings: warnings.map(({ message }) => message),
      record: { events, redactor },
    },
    plan,
    terminal,
  );
  return statusOfVerdict(run.verdict) || status;
}

/** What was worth a word while it happened. */
function warningsIn({ events, redactor }: Witness) {
  return counted(
    events.flatMap(event => (event.kind === 'warned' ? [{ message: redactor.text(event.message) }] : [])),
  );
}
