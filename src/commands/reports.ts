import { access, constants, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { InvalidArgumentError } from 'commander';
import type { CheckFormatName } from '../render/outputs/check.js';
import { troubleText } from '../render/outputs/trouble.js';
import type { VerificationFormat } from '../render/outputs/verification.js';
import { writePublicFile } from '../system/files.js';
import { writeOut } from '../system/streams.js';
import { errnoOf, ProtocolCliError } from '../util/errors.js';
import { usage } from './options.js';
import { type ExitStatus, statusOfFailure, type Terminal } from './terminal.js';

/** A report: its format, and its file; null is stdout. */
export interface ReportRequest<Format extends string = string> {
  readonly format: Format;
  readonly file: string | null;
}

/** One `--report`. */
export type VerificationRequest = ReportRequest<VerificationFormat>;
/** One `--reporter`. */
export type CheckRequest = ReportRequest<CheckFormatName>;

/** File extensions. */
type Extensions<Format extends string> = Readonly<Record<Format, string>>;

const VERIFICATION: Extensions<VerificationFormat> = { junit: 'xml', json: 'json' };
const CHECK: Extensions<CheckFormatName> = {
  human: 'txt',
  json: 'json',
  junit: 'xml',
  github: 'txt',
  markdown: 'md',
};

/** Parses `junit:out.xml` or `json`; `json:-` is stdout too. @throws InvalidArgumentError */
export function reportOption(text: string, before: readonly VerificationRequest[] = []) {
  return [...before, readReport(text, VERIFICATION)];
}

/** As {@link reportOption}, for the formats of `check`. */
export function reporterOption(text: string, before: readonly CheckRequest[] = []) {
  return [...before, readReport(text, CHECK)];
}

function readReport<Format extends string>(
  text: string,
  extensions: Extensions<Format>,
): ReportRequest<Format> {
  const [, name = '', file] = /^([^:]*)(?::(.*))?$/s.exec(text) ?? [];
  const formats = Object.keys(extensions) as Format[];
  const format = formats.find(each => each === name);
  if (format === undefined)
    throw new InvalidArgumentError(`unknown format "${name}"; choose from ${formats.join(', ')}.`);
  if (file === '')
    throw new InvalidArgumentError(`Add a file after the colon: ${name}:report.${extensions[format]}.`);
  return { format, file: file === undefined || file === '-' ? null : file };
}

/** Reports must not be written into each other, or into the output of a command. @throws ProtocolCliError `usage`. */
export function checkReports(reports: readonly VerificationRequest[], stdoutIsTaken: boolean): void {
  const first = reports.find(({ file }) => file === null);
  if (first && stdoutIsTaken)
    throw usage(
      `--report ${first.format} and the command would both write to stdout`,
      `Give it a file: --report ${first.format}:report.${VERIFICATION[first.format]}.`,
    );
  refuseCollisions(reports, '--report', VERIFICATION);
}

/** The reports of a check: the one for people on stdout, unless another one goes there. @throws ProtocolCliError `usage`. */
export function reportsOf(requests: readonly CheckRequest[] = []): readonly CheckRequest[] {
  refuseCollisions(requests, '--reporter', CHECK);
  const takesStdout = requests.some(({ file }) => file === null);
  return takesStdout ? requests : [{ format: 'human', file: null }, ...requests];
}

function refuseCollisions<Format extends string>(
  reports: readonly ReportRequest<Format>[],
  flag: string,
  extensions: Extensions<Format>,
): void {
  const [first, second] = reports.filter(({ file }) => file === null);
  if (first && second)
    throw usage(
      `only one ${flag} can be written to stdout`,
      `Give it a file: ${flag} ${first.format}:report.${extensions[first.format]}.`,
    );
  const files = reports.flatMap(({ file }) => file ?? []);
  const twice = files.find((file, index) => files.indexOf(file) !== index);
  if (twice !== undefined)
    throw usage(`two reports would be written to ${twice}`, 'Give each report its own file.');
}

/** Finds a missing or read-only folder before anything is run. @throws ProtocolCliError `usage`. */
export async function checkReportFolders(reports: readonly ReportRequest[]): Promise<void> {
  for (const { file } of reports) {
    if (file === null) continue;
    const there = await stat(file).catch(() => null);
    if (there?.isDirectory())
      throw usage(`cannot write the report ${file}: it is a folder`, 'Name a file in it.');
    const folder = dirname(file);
    await access(folder, constants.W_OK).catch(cause => {
      const isMissing = errnoOf(cause) === 'ENOENT';
      const why = isMissing ? `no folder ${folder}` : `the folder ${folder} is not writable`;
      const hint = isMissing ? `Create it first: mkdir -p ${folder}` : 'Name a file in another folder.';
      throw new ProtocolCliError('usage', `cannot write the report ${file}: ${why}`, { hint, cause });
    });
  }
}

/** Writes reports. One that cannot be written does not prevent the others; then the status of that failure is returned, else 0. */
export async function writeReports<Report extends ReportRequest>(
  reports: readonly Report[],
  textOf: (report: Report) => string,
  { stdout, stderr }: Pick<Terminal, 'stdout' | 'stderr'>,
): Promise<ExitStatus> {
  let status: ExitStatus = 0;
  for (const report of reports)
    try {
      const text = textOf(report);
      await (report.file === null ? writeOut(stdout, text) : writePublicFile(report.file, text));
    } catch (error) {
      if (!(error instanceof ProtocolCliError)) throw error;
      stderr.write(troubleText(error));
      status ||= statusOfFailure(error.code);
    }
  return status;
}
