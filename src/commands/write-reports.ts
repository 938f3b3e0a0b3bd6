import { ProtocolCliError } from '../errors.js';
import { troubleText } from '../reporters/trouble.js';
import { writeOut } from '../system/output.js';
import { writePublicFile } from '../system/public-file.js';
import { type ExitStatus, statusOfFailure } from './exit-status.js';
import type { ReportRequest } from './reports.js';
import type { Terminal } from './terminal.js';

/** Writes the reports that were asked for. One that cannot be written is said, and hides no other. Returns the status for that; else 0. */
export async function writeReports<Report extends ReportRequest>(
  reports: readonly Report[],
  textOf: (report: Report) => string,
  { stdout, stderr }: Pick<Terminal, 'stdout' | 'stderr'>,
): Promise<ExitStatus> {
  let status: ExitStatus = 0;
  for (const report of reports) {
    const { file } = report;
    const text = textOf(report);
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
