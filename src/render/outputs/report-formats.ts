import type { ColourLevel } from '../terminal/colour-level.js';

/** The formats of `--reporter`, with the extension of their files. Loaded with the command line, so it imports no format. */
export const REPORT_FORMATS = {
  human: 'txt',
  json: 'json',
  junit: 'xml',
  github: 'txt',
  markdown: 'md',
} as const;

export type ReportFormat = keyof typeof REPORT_FORMATS;

export interface ReportLook {
  readonly level: ColourLevel;
  /** Width in cells; without it, lines are not wrapped (files, pipes). */
  readonly width?: number;
  /** Leaves out everything that passed. */
  readonly isQuiet: boolean;
}

/** Writes a report in one format. The text ends with a line feed, and is safe to print (threats, row 24). */
export type Reporter<Report> = (report: Report, look: ReportLook) => string;

/** Writes one kind of report in every format. */
export type Reporters<Report> = Readonly<Record<ReportFormat, Reporter<Report>>>;
