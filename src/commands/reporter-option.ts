import { InvalidArgumentError } from 'commander';
import { REPORT_FORMATS, type ReportFormat } from '../render/outputs/report-formats.js';

/** A report: its format and its file; null for stdout. */
export interface ReportRequest {
  readonly format: ReportFormat;
  readonly file: string | null;
}

const FORMAT_NAMES = Object.keys(REPORT_FORMATS) as readonly ReportFormat[];

/** The row of the option in the help of a command. */
export const REPORTER_ROW = `--reporter <format[:file]>  ${FORMAT_NAMES.join(', ').replace(/, (\w+)$/, ' or $1')} (repeatable)`;

/** Reads `junit:out.xml` or `json`; `json:-` is also stdout. @throws InvalidArgumentError */
export function readReporter(text: string, before: readonly ReportRequest[] = []): readonly ReportRequest[] {
  const [, name = '', file] = /^([^:]*)(?::(.*))?$/s.exec(text) ?? [];
  const format = FORMAT_NAMES.find(each => each === name);
  if (format === undefined)
    throw new InvalidArgumentError(`unknown format "${name}"; choose from ${FORMAT_NAMES.join(', ')}.`);
  if (file === '') throw new InvalidArgumentError(`Add a file after the colon: ${withFile(format)}.`);
  return [...before, { format, file: file === undefined || file === '-' ? null : file }];
}

/** The value of the option, as the user would write it. */
export function reporterText({ format, file }: ReportRequest): string {
  return file === null ? format : `${format}:${file}`;
}

/** `junit:report.xml` */
export function withFile(format: ReportFormat): string {
  return `${format}:report.${REPORT_FORMATS[format]}`;
}
