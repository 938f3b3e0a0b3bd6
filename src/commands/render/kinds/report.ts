import * as z from 'zod/mini';
import { toolResultSchema } from '../../../protocol/callbacks/tool-result.js';
import { REQUIREMENTS, type RequirementId, type Warning } from '../../../protocol/requirements.js';
import { validate } from '../../../protocol/validate.js';
import { reportSchema } from '../../../reporters/report-schema.js';
import { llmPane, panesOfResult } from '../../../story/panes.js';
import { callHeading } from '../../../story/saved/call-lines.js';
import { problemLines } from '../../../story/saved/problem-lines.js';
import { reportLines } from '../../../story/saved/report-lines.js';
import { say } from '../../../story/spans.js';
import { viewPane } from '../../../story/view-pane.js';
import { isRecord } from '../../../text/is-record.js';
import { linesSection, type Section } from '../sheet.js';
import type { Kind, View } from './kind.js';

const savedReportSchema = z.extend(reportSchema, { result: z.nullish(toolResultSchema) });
const warningsSchema = reportSchema.shape.warnings;
/** What `--repeat` prints; its summary is not drawn, since each call is. */
const repeatsSchema = z.object({ calls: z.array(savedReportSchema), warnings: warningsSchema });

type Report = z.infer<typeof savedReportSchema>;

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
    return { ok: true, saved: { sections, report: () => value, faults: [] } };
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
    return { ok: true, saved: { sections, report: () => value, faults: [] } };
  },
};

function callSections(report: Report, { supports }: View): Section[] {
  const { invocation, views = [], error, warnings } = report;
  return [
    linesSection(invocation ? [callHeading(invocation.operation, invocation)] : []),
    linesSection(reportLines(report)),
    ...panesOf(report, supports),
    ...views.map((view): Section => ({ kind: 'pane', pane: viewPane(view) })),
    linesSection(problemLines(warnings.map(known), error ?? null)),
  ];
}

function panesOf({ result, llm }: Report, supports: ReadonlySet<string>): Section[] {
  if (result) return [{ kind: 'panes', ...panesOfResult(result, supports) }];
  return llm ? [{ kind: 'pane', pane: llmPane(llm.text, false) }] : [];
}

/** An id that is not known here is part of what is said. */
function known({ id, message }: Report['warnings'][number]): Warning {
  if (id === undefined) return { message };
  return isRequirement(id) ? { id, message } : { message: `${message} [${id}]` };
}

function isRequirement(id: string): id is RequirementId {
  return Object.hasOwn(REQUIREMENTS, id);
}
