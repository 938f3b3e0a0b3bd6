import { judgeCases } from '../../rules/cases.js';
import { type Conformance, conformanceOf, type Verdict } from '../../rules/conformance.js';
import { seenFrom } from '../../rules/evidence/seen-from.js';
import { checksOf } from '../../rules/report.js';
import { shareableRun } from '../../story/checks/shareable-run.js';
import type { ExitStatus } from '../exit-status.js';
import type { CheckPlan } from './plan.js';
import type { Witness } from './witness.js';

/** What the rules, and the cases, say of what happened; nothing secret is left in it. */
export async function judgeAll(
  { sides, selection, cases, excuses, flags }: CheckPlan,
  { recordings, gaps, redactor }: Witness,
): Promise<Conformance> {
  const sights = await Promise.all(
    sides.map(async side => ({ side, evidences: await Promise.all(recordings.map(seenFrom(side))) })),
  );
  const checks = sights.flatMap(({ side, evidences }) => checksOf(side, evidences, selection));
  const judged = judgeCases(cases, sights[0]?.evidences ?? []);
  const run = conformanceOf(checks, judged, { excuses, sides, isStrict: flags.strict === true, gaps });
  return shareableRun(run, redactor);
}

const STATUSES: Readonly<Record<Verdict, ExitStatus>> = { passed: 0, failed: 1, incomplete: 3 };

export function statusOfVerdict(verdict: Verdict): ExitStatus {
  return STATUSES[verdict];
}
