import { ProtocolCliError } from '../../errors.js';
import { troubleText } from '../../reporters/trouble.js';
import { humanVerification } from '../../reporters/verification/human.js';
import { VERIFICATION_FORMATS } from '../../reporters/verification/index.js';
import { writeOut } from '../../system/output.js';
import { writePublicFile } from '../../system/public-file.js';
import type { MockTool } from '../../tool/mock-tool.js';
import { type ExitStatus, statusOfFailure } from '../exit-status.js';
import type { Terminal } from '../terminal.js';
import type { MockToolPlan } from './plan.js';

/**
 * What was unused, unmatched or undelivered: for people on stderr where it decides, and as the reports that were asked for.
 * Where the command failed, that is said last: its status is the one that counts. A report that cannot be written is said, and hides nothing.
 */
export async function tellVerdict(
  tool: Pick<MockTool, 'verify'>,
  { isVerified, reports, command }: MockToolPlan,
  { stdout, stderr }: Terminal,
  commandStatus: number,
): Promise<ExitStatus> {
  const report = tool.verify();
  if (isVerified) await writeOut(stderr, humanVerification(report));
  if (command && commandStatus !== 0) stderr.write(`✗ the command exited with ${commandStatus}\n`);
  let status: ExitStatus = isVerified && !report.ok ? 1 : 0;
  for (const { format, file } of reports) {
    const text = VERIFICATION_FORMATS[format](report);
    const failure = await failureOf(file === null ? writeOut(stdout, text) : writePublicFile(file, text));
    if (!failure) continue;
    stderr.write(troubleText(failure));
    status ||= statusOfFailure(failure.code);
  }
  return status;
}

async function failureOf(writing: Promise<void>): Promise<ProtocolCliError | null> {
  try {
    await writing;
    return null;
  } catch (error) {
    if (error instanceof ProtocolCliError) return error;
    throw error;
  }
}
