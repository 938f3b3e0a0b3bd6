import type { SessionVerificationReport } from '../../../exchange/verification/session-report.js';
import { humanSessionVerification } from '../../../reporters/verification/session.js';
import { writeOut } from '../../../system/output.js';
import { createRedactor } from '../../../text/redact.js';
import type { ExitStatus } from '../../exit-status.js';
import type { Terminal } from '../../terminal.js';
import type { SessionMockPlan } from './plan.js';

/**
 * What was unanswered, unexpected, unreached or refused: on stderr, where it decides. Where the command failed, that is said last: its
 * status is the one that counts.
 */
export async function tellVerdict(
  report: SessionVerificationReport,
  { isVerified, command, key }: SessionMockPlan,
  { stderr }: Terminal,
  commandStatus: number,
): Promise<ExitStatus> {
  if (!isVerified) return 0;
  await writeOut(stderr, createRedactor([key]).text(humanSessionVerification(report)));
  if (command && commandStatus !== 0) stderr.write(`✗ the command exited with ${commandStatus}\n`);
  return report.ok ? 0 : 1;
}
