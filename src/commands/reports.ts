import { access, constants, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { InvalidArgumentError } from 'commander';
import type { CHECK_FORMATS } from '../render/outputs/check.js';
import { troubleText } from '../render/outputs/trouble.js';
import { writePublicFile } from '../system/files.js';
import { writeOut } from '../system/streams.js';
import { errnoOf, ProtocolCliError } from '../util/errors.js';
import { usageError } from './options.js';
import { type ExitStatus, statusOfFailure, type Terminal } from './terminal.js';

/** A report: its format and its file; null for stdout. */
export interface ReportRequest<Format extends CheckFormatName = CheckFormatName> {
  readonly format: Format;
  readonly file: string | null;
}

/** A format of `--reporter`. */
type CheckFormatName = keyof typeof CHECK_FORMATS;

const EXTENSIONS: Readonly<Record<CheckFormatName, string>> = {
  human: 'txt',
  json: 'json',
  junit: 'xml',
  github: 'txt',
  markdown: 'md',
};

/** The formats of `check`. */
export const CHECK_FORMAT_NAMES = Object.keys(EXTENSIONS) as readonly CheckFormatName[];

/** Reads `junit:out.xml` or `json`; `json:-` is also stdout. The function throws InvalidArgumentError. */
export function reportReader<Format extends CheckFormatName>(...formats: readonly Format[]) {
  return (text: string, before: readonly ReportRequest<Format>[] = []): readonly ReportRequest<Format>[] => {
    const [, name = '', file] = /^([^:]*)(?::(.*))?$/s.exec(text) ?? [];
    const format = formats.find(each => each === name);
    if (format === undefined)
      throw new InvalidArgumentError(`unknown format "${name}"; choose from ${formats.join(', ')}.`);
    if (file === '')
      throw new InvalidArgumentError(`Add a file after the colon: ${name}:report.${EXTENSIONS[format]}.`);
    return [...before, { format, file: file === undefined || file === '-' ? null : file }];
  };
}

/**
 * Detects reports that cannot be written before anything runs: a missing or read-only folder, or several reports in one file or mixed
 * with the output of a command.
 * @throws ProtocolCliError `usage`.
 */
export async function checkReports(
  reports: readonly ReportRequest[],
  flag: '--report' | '--reporter',
  stdoutIsTaken = false,
): Promise<void> {
  const [first, second] = reports.filter(({ file }) => file === null);
  const toFile = first && `Give it a file: ${flag} ${first.format}:report.${EXTENSIONS[first.format]}.`;
  if (first && stdoutIsTaken)
    throw usageError(`${flag} ${first.format} and the command would both write to stdout`, toFile);
  if (second) throw usageError(`only one ${flag} can be written to stdout`, toFile);
  const files = reports.flatMap(({ file }) => file ?? []);
  const twice = files.find((file, index) => files.indexOf(file) !== index);
  if (twice !== undefined)
    throw usageError(`two reports would be written to ${twice}`, 'Give each report its own file.');
  for (const file of files) await checkFolder(file);
}

async function checkFolder(file: string): Promise<void> {
  const there = await stat(file).catch(() => null);
  if (there?.isDirectory())
    throw usageError(`cannot write the report ${file}: it is a folder`, 'Name a file in it.');
  const folder = dirname(file);
  await access(folder, constants.W_OK).catch(cause => {
    const isMissing = errnoOf(cause) === 'ENOENT';
    const why = isMissing ? `no folder ${folder}` : `the folder ${folder} is not writable`;
    const hint = isMissing ? `Create it first: mkdir -p ${folder}` : 'Name a file in another folder.';
    throw new ProtocolCliError('usage', `cannot write the report ${file}: ${why}`, { hint, cause });
  });
}

/** Writes reports; a failure does not prevent the others. Returns the exit status of a failure, otherwise 0. */
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
