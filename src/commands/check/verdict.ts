import { judgeCases } from '../../rules/cases.js';
import { type Conformance, conformanceOf, type Verdict } from '../../rules/conformance.js';
import { gather } from '../../rules/evidence/gather.js';
import { checksOf } from '../../rules/report.js';
import { shareableRun } from '../../story/checks/shareable-run.js';
import type { ExitStatus } from '../exit-status.js';
import type { CheckPlan } from './plan.js';
import type { Witness } from './witness.js';

/** What the rules, and the cases, say of what happened; nothing secret is left in it. */
export async function judgeAll(
  { sides, selection, cases, excuses, flags }: CheckPlan,
  { events, observer, redactor }: Witness,
): Promise<Conformance> {
  const evidences = await Promise.all(
    sides.map(async side => ({ side, evidence: await gather(events, observer, side) })),
  );
  const checks = evidences.flatMap(({ side, evidence }) => checksOf(side, evidence, selection));
  const [first] = evidences;
  const judged = first ? judgeCases(cases, first.evidence) : [];
  const run = conformanceOf(checks, judged, { excuses, isStrict: flags.strict === true });
  return shareableRun(run, redactor);
}

const STATUSES: Readonly<Record<Verdict, ExitStatus>> = { passed: 0, failed: 1, incomplete: 3 };

export function statusOfVerdict(verdict: Verdict): ExitStatus {
  return STATUSES[verdict];
}
