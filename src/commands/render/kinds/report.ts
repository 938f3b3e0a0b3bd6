import * as z from 'zod/mini';
import { REQUIREMENTS, type RequirementId, type Warning } from '../../../protocol/requirements.js';
import { validate } from '../../../protocol/validate.js';
import { reportSchema } from '../../../reporters/report-schema.js';
import { callHeading } from '../../../story/saved/call-lines.js';
import { problemLines } from '../../../story/saved/problem-lines.js';
import { reportLines } from '../../../story/saved/report-lines.js';
import { say } from '../../../story/spans.js';
import { viewPane } from '../../../story/view-pane.js';
import { isRecord } from '../../../text/is-record.js';
import { linesSection, type Section } from '../sheet.js';
import type { Kind, SavedAnswer, View } from './kind.js';
import { answerIn, panesIn, type SavedReport, savedReportSchema } from './saved-report.js';

const warningsSchema = reportSchema.shape.warnings;
/** What `--repeat` prints; its summary is not drawn, since each call is. */
const repeatsSchema = z.object({ calls: z.array(savedReportSchema), warnings: warningsSchema });

/** The object that `invoke -o json` prints at its end. */
export const reportKind: Kind = {
  name: 'a report (invoke -o json)',
  dialect: 'rap',
  keys: ['invocation', 'endpoint', 'acknowledgement', 'outcome', 'result', 'llm', 'display', 'callbacks'],
  isMeant: ({ invocation, warnings, error }) =>
    isRecord(invocation) || (Array.isArray(warnings) && isRecord(error)),
  async read({ value }) {
    const checked = validate(savedReportSchema, value);
    if (!checked.ok) return checked;
    const sections = (view: View) => callSections(checked.value, view);
    const answers = () => answersIn([{ native: value, at: [] }], [checked.value]);
    return { ok: true, saved: { sections, report: () => value, answers, faults: [] } };
  },
};

/** The same with `--repeat`. */
export const repeatsKind: Kind = {
  name: 'a report of many calls (invoke --repeat -o json)',
  dialect: 'rap',
  keys: ['calls', 'summary'],
  isMeant: ({ calls, warnings }) => Array.isArray(calls) && Array.isArray(warnings),
  async read({ value }) {
    const checked = validate(repeatsSchema, value);
    if (!checked.ok) return checked;
    const { calls, warnings } = checked.value;
    const sections = (view: View) => [
      ...calls.flatMap((call, index) => [
        linesSection([[say(`CALL ${index + 1} of ${calls.length}`, 'title')]]),
        ...callSections(call, view),
      ]),
      linesSection(problemLines(warnings.map(known))),
    ];
    const natives = isRecord(value) && Array.isArray(value['calls']) ? value['calls'] : [];
    const answers = () =>
      answersIn(
        natives.map((native, index) => ({ native, at: ['calls', index] })),
        calls,
      );
    return { ok: true, saved: { sections, report: () => value, answers, faults: [] } };
  },
};

interface Place {
  /** The report as it came: a result has more than a schema knows. */
  readonly native: unknown;
  readonly at: readonly PropertyKey[];
}

function answersIn(places: readonly Place[], reports: readonly SavedReport[]): SavedAnswer[] {
  return reports.flatMap((report, index) => {
    const { native, at = [] } = places[index] ?? {};
    const answers = answerIn(report, isRecord(native) ? native['result'] : report.result);
    return answers.map(answer => (answer.dialect ? { ...answer, at: [...at, 'result'] } : answer));
  });
}

function callSections(report: SavedReport, { supports }: View): Section[] {
  const { invocation, views = [], error, warnings } = report;
  return [
    linesSection(invocation ? [callHeading(invocation.operation, invocation)] : []),
    linesSection(reportLines(report)),
    ...panesIn(report, supports),
    ...views.map((view): Section => ({ kind: 'pane', pane: viewPane(view) })),
    linesSection(problemLines(warnings.map(known), error ?? null)),
  ];
}

/** An id that is not known here is part of what is said. */
export function known({ id, message }: SavedReport['warnings'][number]): Warning {
  if (id === undefined) return { message };
  return isRequirement(id) ? { id, message } : { message: `${message} [${id}]` };
}

function isRequirement(id: string): id is RequirementId {
  return Object.hasOwn(REQUIREMENTS, id);
}
