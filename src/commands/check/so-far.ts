import { printed } from '../../dress/dress.js';
import { createTheme } from '../../dress/theme.js';
import { rowLines } from '../../story/checks/row-lines.js';
import { writeOut } from '../../system/output.js';
import { columnsOf, type Terminal } from '../terminal.js';
import type { CheckPlan } from './plan.js';
import { judgeAll } from './verdict.js';
import { recordOf, type Witness } from './witness.js';

/** What was broken until somebody stopped it: no report is made of it, since nobody knows what else would have come. */
export async function tellSoFar(plan: CheckPlan, witness: Witness, { stderr }: Terminal): Promise<void> {
  const { checks } = await judgeAll(plan, witness);
  const broken = checks.filter(({ standing }) => standing === 'failed');
  const record = recordOf(witness);
  const rows = broken.flatMap(row => rowLines(row, record));
  const said = broken.length === 0 ? 'nothing was found broken so far' : `broken so far: ${broken.length}`;
  await writeOut(
    stderr,
    `interrupted: there is no verdict; ${said}\n${printed(rows, createTheme(0), columnsOf(stderr))}`,
  );
}
