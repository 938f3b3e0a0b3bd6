import { appendFile } from 'node:fs/promises';
import { colourLevel } from '../../dress/colour-level.js';
import type { CheckLook, CheckStory } from '../../reporters/check/format.js';
import { CHECK_FORMATS } from '../../reporters/check/index.js';
import { warningText } from '../../reporters/trouble.js';
import type { ExitStatus } from '../exit-status.js';
import { columnsOf, type Terminal } from '../terminal.js';
import { writeReports } from '../write-reports.js';
import type { CheckFlags } from './flags.js';
import type { CheckPlan } from './plan.js';
import type { ReportRequest } from './reporter-option.js';

/** The reports that were asked for, and what GitHub shows of the job. Returns the status for one that could not be written; else 0. */
export async function tellReports(
  story: CheckStory,
  { reports, flags }: CheckPlan,
  terminal: Terminal,
): Promise<ExitStatus> {
  const textOf = (report: ReportRequest) => {
    return CHECK_FORMATS[report.format](story, lookOf(report, flags, terminal));
  };
  const status = await writeReports(reports, textOf, terminal);
  if (reports.some(({ format }) => format === 'github')) await addSummary(story, terminal);
  return status;
}

/** A file has no colours, and no width. */
function lookOf(
  { file }: ReportRequest,
  { color, quiet: isQuiet = false }: CheckFlags,
  { stdout, env }: Terminal,
): CheckLook {
  const isTTY = stdout.isTTY === true;
  if (file !== null) return { level: 0, isQuiet };
  const width = columnsOf(stdout);
  const level = colourLevel({ env, isTTY, noColor: !color });
  return { level, isQuiet, ...(width !== undefined && { width }) };
}

/** What GitHub shows on the page of the job: it names the file, and others write there too. */
async function addSummary(story: CheckStory, { env, stderr }: Terminal): Promise<void> {
  const file = env['GITHUB_STEP_SUMMARY'];
  if (!file) return;
  const text = `### protocol-cli check\n\n${CHECK_FORMATS.markdown(story, { level: 0, isQuiet: false })}\n`;
  await appendFile(file, text).catch(cause => {
    const why = cause instanceof Error ? cause.message : String(cause);
    stderr.write(warningText({ message: `the step summary of GitHub could not be written: ${why}` }));
  });
}
