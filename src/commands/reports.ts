import { access, constants, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { InvalidArgumentError } from 'commander';
import { ProtocolCliError } from '../errors.js';
import { errnoOf } from '../system/errno.js';

/** A report that is asked for: its format, and the file it goes to; null is stdout. */
export interface ReportRequest<Format extends string = string> {
  readonly format: Format;
  readonly file: string | null;
}

/** How files of each format are named, by format. */
export type Endings<Format extends string> = Readonly<Record<Format, string>>;

/** Reads `junit:out.xml` or `json`; `json:-` is stdout too. @throws InvalidArgumentError */
export function readReport<Format extends string>(
  text: string,
  endings: Endings<Format>,
): ReportRequest<Format> {
  const [, name = '', file] = /^([^:]*)(?::(.*))?$/s.exec(text) ?? [];
  const formats = Object.keys(endings) as Format[];
  const format = formats.find(each => each === name);
  if (format === undefined)
    throw new InvalidArgumentError(`"${name}" is no format; choose from ${formats.join(', ')}.`);
  if (file === '')
    throw new InvalidArgumentError(`A file comes after the colon: ${name}:report.${endings[format]}.`);
  return { format, file: file === undefined || file === '-' ? null : file };
}

/**
 * Reports must not run into each other.
 * @param flag that asks for them
 * @throws ProtocolCliError `usage`.
 */
export function refuseCollisions<Format extends string>(
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
      hint: 'Give each a file of its own.',
    });
}

async function refuseFolder(file: string): Promise<void> {
  const isFolder = await stat(file).then(
    found => found.isDirectory(),
    () => false,
  );
  if (isFolder)
    throw new ProtocolCliError('usage', `the report ${file} could not be written: it is a folder`, {
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
      const why = isMissing ? `there is no folder ${folder}` : `the folder ${folder} cannot be written to`;
      throw new ProtocolCliError('usage', `the report ${file} could not be written: ${why}`, {
        hint: isMissing ? `Make it first: mkdir -p ${folder}` : 'Name a file in another folder.',
        cause,
      });
    });
  }
}
