import { access, constants, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { InvalidArgumentError } from 'commander';
import type { CheckFormatName } from '../render/outputs/check.js';
import type { VerificationFormat } from '../render/outputs/verification.js';
import { errnoOf } from '../system/errno.js';
import { ProtocolCliError } from '../util/errors.js';

/** A report that is asked for: its format, and the file it goes to; null is stdout. */
export interface ReportRequest<Format extends string = string> {
  readonly format: Format;
  readonly file: string | null;
}

/** How files of each format are named, by format. */
type Endings<Format extends string> = Readonly<Record<Format, string>>;

/** Reads `junit:out.xml` or `json`; `json:-` is stdout too. @throws InvalidArgumentError */
function readReport<Format extends string>(text: string, endings: Endings<Format>): ReportRequest<Format> {
  const [, name = '', file] = /^([^:]*)(?::(.*))?$/s.exec(text) ?? [];
  const formats = Object.keys(endings) as Format[];
  const format = formats.find(each => each === name);
  if (format === undefined)
    throw new InvalidArgumentError(`unknown format "${name}"; choose from ${formats.join(', ')}.`);
  if (file === '')
    throw new InvalidArgumentError(`Add a file after the colon: ${name}:report.${endings[format]}.`);
  return { format, file: file === undefined || file === '-' ? null : file };
}

/**
 * Reports must not run into each other.
 * @param flag that asks for them
 * @throws ProtocolCliError `usage`.
 */
function refuseCollisions<Format extends string>(
  reports: readonly ReportRequest<Format>[],
  flag: string,
  endings: Endings<Format>,
): void {
  const [first, second] = reports.filter(({ file }) => file === null);
  if (first && second)
    throw new ProtocolCliError('usage', `only one ${flag} can be written to stdout`, {
      hint: `Give it a file: ${flag} ${first.format}:report.${endings[first.format]}.`,
    });
  const files = reports.flatMap(({ file }) => (file === null ? [] : [file]));
  const twice = files.find((file, index) => files.indexOf(file) !== index);
  if (twice !== undefined)
    throw new ProtocolCliError('usage', `two reports would be written to ${twice}`, {
      hint: 'Give each report its own file.',
    });
}

async function refuseFolder(file: string): Promise<void> {
  const isFolder = await stat(file).then(
    found => found.isDirectory(),
    () => false,
  );
  if (isFolder)
    throw new ProtocolCliError('usage', `cannot write the report ${file}: it is a folder`, {
      hint: 'Name a file in it.',
    });
}

/**
 * Found before anything is run, not after it: a report whose folder is missing or closed to us.
 * @throws ProtocolCliError `usage`.
 */
export async function checkReportFolders(reports: readonly ReportRequest[]): Promise<void> {
  for (const { file } of reports) {
    if (file === null) continue;
    await refuseFolder(file);
    const folder = dirname(file);
    await access(folder, constants.W_OK).catch(cause => {
      const isMissing = errnoOf(cause) === 'ENOENT';
      const why = isMissing ? `no folder ${folder}` : `the folder ${folder} is not writable`;
      throw new ProtocolCliError('usage', `cannot write the report ${file}: ${why}`, {
        hint: isMissing ? `Create it first: mkdir -p ${folder}` : 'Name a file in another folder.',
        cause,
      });
    });
  }
}

/** One `--report`. */
export type ReportOptionReportRequest = ReportRequest<VerificationFormat>;

const ENDINGS: Endings<VerificationFormat> = { junit: 'xml', json: 'json' };

/** Reads `junit:out.xml` or `json`, one more each time. @throws InvalidArgumentError */
export function reportOption(
  text: string,
  before: readonly ReportOptionReportRequest[] = [],
): readonly ReportOptionReportRequest[] {
  return [...before, readReport(text, ENDINGS)];
}

/**
 * Reports must not run into each other, nor into what a command says.
 * @param stdoutIsTaken by a command after `--`
 * @throws ProtocolCliError `usage`.
 */
export function checkReports(reports: readonly ReportOptionReportRequest[], stdoutIsTaken: boolean): void {
  const first = reports.find(({ file }) => file === null);
  if (first && stdoutIsTaken)
    throw new ProtocolCliError(
      'usage',
      `--report ${first.format} and the command would both write to stdout`,
      { hint: `Give it a file: --report ${first.format}:report.${ENDINGS[first.format]}.` },
    );
  refuseCollisions(reports, '--report', ENDINGS);
}

/** One `--reporter`. */
export type ReporterOptionReportRequest = ReportRequest<CheckFormatName>;

const REPORTER_OPTION_ENDINGS: Endings<CheckFormatName> = {
  human: 'txt',
  json: 'json',
  junit: 'xml',
  github: 'txt',
  markdown: 'md',
};

/** Reads `junit:out.xml` or `json`, one more each time. @throws InvalidArgumentError */
export function reporterOption(
  text: string,
  before: readonly ReporterOptionReportRequest[] = [],
): readonly ReporterOptionReportRequest[] {
  return [...before, readReport(text, REPORTER_OPTION_ENDINGS)];
}

/**
 * The reports of a run: the one for people on stdout, where no other one goes there.
 * @throws ProtocolCliError `usage`.
 */
export function reportsOf(
  asked: readonly ReporterOptionReportRequest[] = [],
): readonly ReporterOptionReportRequest[] {
  refuseCollisions(asked, '--reporter', REPORTER_OPTION_ENDINGS);
  return asked.some(({ file }) => file === null) ? asked : [{ format: 'human', file: null }, ...asked];
}
