import { dressLine } from '../../dress/dress.js';
import { createTheme } from '../../dress/theme.js';
import { rowLines } from '../../story/checks/row-lines.js';
import { writeOut } from '../../system/output.js';
import type { Terminal } from '../terminal.js';
import type { CheckPlan } from './plan.js';
import { judgeAll } from './verdict.js';
import { recordOf, type Witness } from './witness.js';

/** What was broken until somebody stopped it: no report is made of it, since nobody knows what else would have come. */
export async function tellSoFar(plan: CheckPlan, witness: Witness, { stderr }: Terminal): Promise<void> {
  const { checks } = await judgeAll(plan, witness);
  const broken = checks.filter(({ standing }) => standing === 'failed');
  const theme = createTheme(0);
  const record = recordOf(witness);
  const lines = broken.flatMap(row => rowLines(row, record)).map(line => `${dressLine(line, theme)}\n`);
  const said = broken.length === 0 ? 'nothing was found broken so far' : `broken so far: ${broken.length}`;
  await writeOut(stderr, `interrupted: there is no verdict; ${said}\n${lines.join('')}`);
}
