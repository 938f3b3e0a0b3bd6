import { ProtocolCliError } from '../../errors.js';
import type { Case } from '../../fixtures/cases/case.js';
import type { ExpectedFailure } from '../../fixtures/expected-failures/expected-failure.js';
import { REQUIREMENTS, type Side } from '../../protocol/requirements.js';
import type { Selection } from '../../rules/report.js';
import { checkReportFolders } from '../reports.js';
import type { Terminal } from '../terminal.js';
import { readCaseFile, readFailureFile } from './files.js';
import type { CheckFlags } from './flags.js';
import { type ReportRequest, reportsOf } from './reporter-option.js';
import { type Subject, subjectOf } from './subject.js';

/** What is to be done. */
export interface CheckPlan {
  readonly flags: CheckFlags;
  readonly subject: Subject;
  readonly sides: readonly Side[];
  readonly selection: Selection;
  readonly cases: readonly Case[];
  readonly excuses: readonly ExpectedFailure[];
  readonly reports: readonly ReportRequest[];
}

/**
 * Whatever is wrong with the command line, or with a file that it names, is said before anything is sent.
 * @throws ProtocolCliError `usage`, `unreadable-file`, `invalid-fixtures`.
 */
export async function planCheck(
  word: string | undefined,
  flags: CheckFlags,
  { stdin }: Pick<Terminal, 'stdin'>,
): Promise<CheckPlan> {
  const subject = await subjectOf(word, flags);
  const sides = sidesOf(subject, flags);
  const selection = selectionOf(flags, sides);
  const reports = reportsOf(flags.reporter);
  await checkReportFolders(reports);
  const { cases, expectedFailures } = flags;
  return {
    flags,
    subject,
    sides,
    selection,
    reports,
    cases: cases === undefined ? [] : await readCaseFile(cases, stdin),
    excuses: expectedFailures === undefined ? [] : await readFailureFile(expectedFailures, stdin),
  };
}

/** Of a tool that we call, we are the runtime ourselves. */
function sidesOf(subject: Subject, { side }: CheckFlags): readonly Side[] {
  if (subject.kind === 'tool') return ['tool'];
  return side === undefined ? ['tool', 'runtime'] : [side];
}

/** @throws ProtocolCliError `usage` where a rule is asked for that is not judged here. */
function selectionOf({ only, skip }: CheckFlags, sides: readonly Side[]): Selection {
  const stray = only?.find(id => !sides.includes(REQUIREMENTS[id].side));
  if (stray !== undefined)
    throw new ProtocolCliError('usage', `--only ${stray}: only the ${sides[0]} is judged here`, {
      hint: `A rule of the ${REQUIREMENTS[stray].side} is judged by a transcript: protocol-cli check run.ndjson --only ${stray}.`,
    });
  return { ...(only && { only: new Set(only) }), ...(skip && { skip: new Set(skip) }) };
}
