import { colourLevel } from '../../dress/colour-level.js';
import { printed } from '../../dress/dress.js';
import { createTheme } from '../../dress/theme.js';
import { REQUIREMENTS, type RequirementId } from '../../protocol/requirements.js';
import { ruleLine, specLines } from '../../story/checks/rule-lines.js';
import type { Line } from '../../story/line.js';
import { writeOut } from '../../system/output.js';
import type { ExitStatus } from '../exit-status.js';
import { columnsOf, type Terminal } from '../terminal.js';
import type { CheckFlags } from './flags.js';

const IDS = Object.keys(REQUIREMENTS) as RequirementId[];

/** `--list` and `--spec`: the rules themselves; nothing is checked. */
export async function explainRules(flags: CheckFlags, terminal: Terminal): Promise<ExitStatus> {
  const { spec, color } = flags;
  const { stdout, env } = terminal;
  const lines = spec
    ? spec.flatMap((id, index) => [...gap(index), ...specLines(id)])
    : listed(flags).map(ruleLine);
  const theme = createTheme(colourLevel({ env, isTTY: stdout.isTTY === true, noColor: !color }));
  await writeOut(stdout, printed(lines, theme, columnsOf(stdout)));
  return 0;
}

function gap(index: number): Line[] {
  return index === 0 ? [] : [[]];
}

function listed({ side, only, skip }: CheckFlags): RequirementId[] {
  return IDS.filter(id => side === undefined || REQUIREMENTS[id].side === side).filter(
    id => (only?.includes(id) ?? true) && !skip?.includes(id),
  );
}
