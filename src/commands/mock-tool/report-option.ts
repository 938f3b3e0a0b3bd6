import { access, constants } from 'node:fs/promises';
import { dirname } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { ProtocolCliError } from '../../errors.js';
import { VERIFICATION_FORMATS, type VerificationFormat } from '../../reporters/verification/index.js';
import { errnoOf } from '../../system/errno.js';

/** One `--report`: its format, and the file it goes to; null is stdout. */
export interface ReportRequest {
  readonly format: VerificationFormat;
  readonly file: string | null;
}

/** Reads `junit:out.xml` or `json`, one more each time. @throws InvalidArgumentError */
export function reportOption(text: string, before: readonly ReportRequest[] = []): readonly ReportRequest[] {
  const [, name = '', file] = /^([^:]*)(?::(.*))?$/s.exec(text) ?? [];
  if (!isFormat(name))
    throw new InvalidArgumentError(`"${name}" is no format; choose from ${FORMATS.join(', ')}.`);
  if (file === '')
    throw new InvalidArgumentError(`A file comes after the colon: ${name}:report.${ENDING[name]}.`);
  return [...before, { format: name, file: file ?? null }];
}

/**
 * Reports must not run into each other, nor into what a command says.
 * @param stdoutIsTaken by a command after `--`
 * @throws ProtocolCliError `usage`.
 */
export function checkReports(reports: readonly ReportRequest[], stdoutIsTaken: boolean): void {
  const onStdout = reports.filter(({ file }) => file === null);
  const [first] = onStdout;
  if (first && stdoutIsTaken)
    throw usage(`--report ${first.format} would write to stdout, which is the command's`, first);
  if (first && onStdout.length > 1) throw usage('only one --report can be written to stdout', first);
  const files = reports.flatMap(({ file }) => (file === null ? [] : [file]));
  const twice = files.find((file, index) => files.indexOf(file) !== index);
  if (twice !== undefined)
    throw new ProtocolCliError('usage', `two reports would be written to ${twice}`, {
      hint: 'Give each a file of its own.',
    });
}

/**
 * Found before the tests run, not after them: a report whose folder is missing or closed to us.
 * @throws ProtocolCliError `usage`.
 */
export async function checkReportFolders(reports: readonly ReportRequest[]): Promise<void> {
  for (const { file } of reports) {
    if (file === null) continue;
    const folder = dirname(file);
    await access(folder, constants.W_OK).catch(cause => {
      const isMissing = errnoOf(cause) === 'ENOENT';
      const why = isMissing ? `there is no folder ${folder}` : `the folder ${folder} cannot be written to`;
      throw new ProtocolCliError('usage', `the report ${file} could not be written: ${why}`, {
        hint: isMissing ? `Make it first: mkdir -p ${folder}` : 'Name a file in another folder.',
        cause,
      });
    });
  }
}

const FORMATS = Object.keys(VERIFICATION_FORMATS);
const ENDING: Readonly<Record<VerificationFormat, string>> = { junit: 'xml', json: 'json' };

function isFormat(name: string): name is VerificationFormat {
  return Object.hasOwn(VERIFICATION_FORMATS, name);
}

function usage(message: string, { format }: ReportRequest): ProtocolCliError {
  return new ProtocolCliError('usage', message, {
    hint: `Give it a file: --report ${format}:report.${ENDING[format]}.`,
  });
}
