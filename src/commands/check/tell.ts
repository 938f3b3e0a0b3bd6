import { appendFile } from 'node:fs/promises';
import { colourLevel } from '../../dress/colour-level.js';
import { ProtocolCliError } from '../../errors.js';
import type { CheckLook, CheckStory } from '../../reporters/check/format.js';
import { CHECK_FORMATS } from '../../reporters/check/index.js';
import { troubleText, warningText } from '../../reporters/trouble.js';
import { writeOut } from '../../system/output.js';
import { writePublicFile } from '../../system/public-file.js';
import { type ExitStatus, statusOfFailure } from '../exit-status.js';
import type { Terminal } from '../terminal.js';
import type { CheckPlan } from './plan.js';
import type { ReportRequest } from './reporter-option.js';

/** The reports that were asked for. One that cannot be written is said, and hides no other. Returns the status for that; else 0. */
export async function tellReports(
  story: CheckStory,
  { reports, flags }: CheckPlan,
  terminal: Terminal,
): Promise<ExitStatus> {
  let status: ExitStatus = 0;
  for (const report of reports) {
    const level = levelFor(report, flags.color, terminal);
    const failure = await failureOf(write(report, story, { level, isQuiet: flags.quiet === true }, terminal));
    if (!failure) continue;
    terminal.stderr.write(troubleText(failure));
    status ||= statusOfFailure(failure.code);
  }
  if (reports.some(({ format }) => format === 'github')) await addSummary(story, terminal);
  return status;
}

function write(
  { format, file }: ReportRequest,
  story: CheckStory,
  look: CheckLook,
  { stdout }: Terminal,
): Promise<void> {
  const text = CHECK_FORMATS[format](story, look);
  return file === null ? writeOut(stdout, text) : writePublicFile(file, text);
}

/** A file has no colours. */
function levelFor({ file }: ReportRequest, color: boolean, { stdout, env }: Terminal): CheckLook['level'] {
  return file === null ? colourLevel({ env, isTTY: stdout.isTTY === true, noColor: !color }) : 0;
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

async function failureOf(writing: Promise<void>): Promise<ProtocolCliError | null> {
  try {
    await writing;
    return null;
  } catch (error) {
    if (error instanceof ProtocolCliError) return error;
    throw error;
  }
}
