import type { CheckFormatName } from '../../reporters/check/index.js';
import { type Endings, type ReportRequest as Request, readReport, refuseCollisions } from '../reports.js';

/** One `--reporter`. */
export type ReportRequest = Request<CheckFormatName>;

const ENDINGS: Endings<CheckFormatName> = {
  human: 'txt',
  json: 'json',
  junit: 'xml',
  github: 'txt',
  markdown: 'md',
};

/** Reads `junit:out.xml` or `json`, one more each time. @throws InvalidArgumentError */
export function reporterOption(
  text: string,
  before: readonly ReportRequest[] = [],
): readonly ReportRequest[] {
  return [...before, readReport(text, ENDINGS)];
}

/**
 * The reports of a run: the one for people on stdout, where no other one goes there.
 * @throws ProtocolCliError `usage`.
 */
export function reportsOf(asked: readonly ReportRequest[] = []): readonly ReportRequest[] {
  refuseCollisions(asked, '--reporter', ENDINGS);
  return asked.some(({ file }) => file === null) ? asked : [{ format: 'human', file: null }, ...asked];
}
