import { ProtocolCliError } from '../../errors.js';
import type { VerificationFormat } from '../../reporters/verification/index.js';
import { type Endings, type ReportRequest as Request, readReport, refuseCollisions } from '../reports.js';

/** One `--report`. */
export type ReportRequest = Request<VerificationFormat>;

const ENDINGS: Endings<VerificationFormat> = { junit: 'xml', json: 'json' };

/** Reads `junit:out.xml` or `json`, one more each time. @throws InvalidArgumentError */
export function reportOption(text: string, before: readonly ReportRequest[] = []): readonly ReportRequest[] {
  return [...before, readReport(text, ENDINGS)];
}

/**
 * Reports must not run into each other, nor into what a command says.
 * @param stdoutIsTaken by a command after `--`
 * @throws ProtocolCliError `usage`.
 */
export function checkReports(reports: readonly ReportRequest[], stdoutIsTaken: boolean): void {
  const first = reports.find(({ file }) => file === null);
  if (first && stdoutIsTaken)
    throw new ProtocolCliError(
      'usage',
      `--report ${first.format} would write to stdout, which is the command's`,
      { hint: `Give it a file: --report ${first.format}:report.${ENDINGS[first.format]}.` },
    );
  refuseCollisions(reports, '--report', ENDINGS);
}
