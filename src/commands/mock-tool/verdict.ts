import { humanVerification } from '../../reporters/verification/human.js';
import { VERIFICATION_FORMATS } from '../../reporters/verification/index.js';
import { writeOut } from '../../system/output.js';
import type { MockTool } from '../../tool/mock-tool.js';
import type { ExitStatus } from '../exit-status.js';
import type { Terminal } from '../terminal.js';
import { writeReports } from '../write-reports.js';
import type { MockToolPlan } from './plan.js';

/**
 * What was unused, unmatched or undelivered: for people on stderr where it decides, and as the reports that were asked for.
 * Where the command failed, that is said last: its status is the one that counts. A report that cannot be written is said, and hides nothing.
 */
export async function tellVerdict(
  tool: Pick<MockTool, 'verify'>,
  { isVerified, reports, command }: MockToolPlan,
  terminal: Terminal,
  commandStatus: number,
): Promise<ExitStatus> {
  const { stderr } = terminal;
  const report = tool.verify();
  if (isVerified) await writeOut(stderr, humanVerification(report));
  if (command && commandStatus !== 0) stderr.write(`✗ the command exited with ${commandStatus}\n`);
  const unwritten = await writeReports(
    reports,
    ({ format }) => VERIFICATION_FORMATS[format](report),
    terminal,
  );
  return isVerified && !report.ok ? 1 : unwritten;
}
