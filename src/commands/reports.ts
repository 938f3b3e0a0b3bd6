import { access, appendFile, constants, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Reporters, ReportLook } from '../render/outputs/report-formats.js';
import { troubleText, warningText } from '../render/outputs/trouble.js';
import { VERIFICATION_FORMATS, type Verified } from '../render/outputs/verification.js';
import { writePublicFile } from '../system/atomic-file.js';
import { writeOut } from '../system/streams.js';
import { errnoOf, ProtocolCliError } from '../util/errors.js';
import { usageError } from './options.js';
import { type ReportRequest, withFile } from './reporter-option.js';
import { colourOf, type ExitStatus, statusOfFailure, type Terminal } from './terminal.js';

/**
 * Detects reports that cannot be written before anything runs: a missing or read-only folder, or several texts in one file or on stdout.
 * @param stdoutUser what else writes to stdout: `the command`; null for nothing
 * @throws ProtocolCliError `usage`.
 */
export async function checkReports(
  reports: readonly ReportRequest[],
  stdoutUser: string | null = null,
): Promise<void> {
  const [first, second] = reports.filter(report => streamOf(report, stdoutUser) === 'stdout');
  const other = stdoutUser ?? (second && `--reporter ${second.format}`);
  if (first && other !== undefined)
    throw usageError(
      `--reporter ${first.format} and ${other} would both write to stdout`,
      stdoutUser === null && second
        ? `Give one of them a file: --reporter ${withFile(fileable(first, second).format)}.`
        : `Give the report a file: --reporter ${withFile(first.format)}.`,
    );
  const files = reports.flatMap(({ file }) => file ?? []);
  const names = files.map(file => resolve(file).toLowerCase()); // Windows and macOS tell no letters apart by case
  const twice = files.find((_, index) => names.indexOf(names[index] ?? '') !== index);
  if (twice !== undefined)
    throw usageError(`two reports would be written to ${twice}`, 'Give each report its own file.');
  for (const file of files) await checkFolder(file);
}

/** Annotations in a file have no effect. */
function fileable(first: ReportRequest, second: ReportRequest): ReportRequest {
  return second.format === 'github' ? first : second;
}

/** GitHub reads annotations from both streams, so they go to stderr if stdout has another use. */
function streamOf({ format, file }: ReportRequest, stdoutUser: string | null): 'stdout' | 'stderr' | null {
  if (file !== null) return null;
  return format === 'github' && stdoutUser !== null ? 'stderr' : 'stdout';
}

async function checkFolder(file: string): Promise<void> {
  const there = await stat(file).catch(() => null);
  if (there?.isDirectory())
    throw usageError(`cannot write the report ${file}: it is a folder`, 'Name a file in it.');
  const folder = dirname(file);
  await access(folder, constants.W_OK).catch(cause => {
    const isMissing = errnoOf(cause) === 'ENOENT';
    const why = isMissing ? `no folder ${folder}` : `the folder ${folder} is not writable`;
    const hint = isMissing ? 'Create it first.' : 'Name a file in another folder.';
    throw new ProtocolCliError('usage', `cannot write the report ${file}: ${why}`, { hint, cause });
  });
}

interface ReportOptions<Report> {
  readonly reporters: Reporters<Report>;
  /** The command, for the job summary: `check`. */
  readonly command: string;
  readonly flags: { readonly quiet?: boolean; readonly color: boolean };
  /** See {@link checkReports}. */
  readonly stdoutUser?: string | null;
}

/**
 * Writes reports, and with `github` the job summary; a failure does not prevent the others. Returns the exit status of a failure,
 * otherwise 0.
 */
export async function writeReports<Report>(
  requests: readonly ReportRequest[],
  report: Report,
  { reporters, command, flags, stdoutUser = null }: ReportOptions<Report>,
  terminal: Terminal,
): Promise<ExitStatus> {
  const { stderr } = terminal;
  const isQuiet = flags.quiet === true;
  let status: ExitStatus = 0;
  for (const request of requests)
    try {
      const { format, file } = request;
      const name = streamOf(request, stdoutUser);
      const look = name === null ? { level: 0 as const } : lookOf(terminal[name], flags, terminal);
      const text = reporters[format](report, { ...look, isQuiet });
      if (name !== null) await writeOut(terminal[name], text);
      else if (file !== null) await writePublicFile(file, text);
    } catch (error) {
      if (!(error instanceof ProtocolCliError)) throw error;
      stderr.write(troubleText(error));
      status ||= statusOfFailure(error.code);
    }
  if (requests.some(({ format }) => format === 'github'))
    await addSummary(
      `### protocol-cli ${command}\n\n${reporters.markdown(report, { level: 0, isQuiet: false })}\n`,
      terminal,
    );
  return status;
}

/** Smaller reported widths are not real. */
const MIN_WIDTH = 20;

/** Returns the width of a terminal; undefined for files and pipes, whose lines are not wrapped. */
export function columnsOf({ isTTY, columns }: NodeJS.WriteStream): number | undefined {
  return isTTY && columns >= MIN_WIDTH ? columns : undefined;
}

function lookOf(
  stream: NodeJS.WriteStream,
  flags: { readonly color: boolean },
  terminal: Terminal,
): Omit<ReportLook, 'isQuiet'> {
  const width = columnsOf(stream);
  return { level: colourOf(stream, flags, terminal), ...(width !== undefined && { width }) };
}

/** Appends to the GitHub job summary. The file is shared with other steps. */
async function addSummary(text: string, { env, stderr }: Terminal): Promise<void> {
  const file = env['GITHUB_STEP_SUMMARY'];
  if (!file) return;
  await appendFile(file, text).catch((cause: Error) => {
    const message = `could not write the GitHub step summary: ${cause.message}`;
    stderr.write(warningText({ message }));
  });
}

interface VerificationRequest {
  readonly reporter: readonly ReportRequest[];
  /** What else writes to stdout. */
  readonly stdoutUser: string | null;
  readonly flags: { readonly quiet?: boolean; readonly color: boolean };
}

/** Writes the reports of a verification, and a text on stderr unless stdout has it. Returns the exit status. */
export async function writeVerification(
  verified: Verified,
  { reporter, stdoutUser, flags }: VerificationRequest,
  terminal: Terminal,
): Promise<ExitStatus> {
  const isOnStdout = reporter.some(({ format, file }) => format === 'human' && file === null);
  const text = VERIFICATION_FORMATS.human(verified, { level: 0, isQuiet: flags.quiet === true });
  if (!isOnStdout) await writeOut(terminal.stderr, text);
  const options = { reporters: VERIFICATION_FORMATS, command: verified.subject, flags, stdoutUser };
  const status = await writeReports(reporter, verified, options, terminal);
  return verified.ok ? status : 1;
}
