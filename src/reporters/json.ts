import type { History } from '../exchange/history.js';
import { panesOf } from '../story/panes.js';
import { counted, warningsOf } from '../story/warnings.js';
import { writeOut } from '../system/output.js';
import { safeJson } from '../text/json-safe.js';
import type { Redactor } from '../text/redact.js';
import { redactJson } from '../text/redact-json.js';
import { callReport } from './call-report.js';
import type { Report } from './report-schema.js';
import type { Ending, Paper, Reporter } from './reporter.js';
import { errorReport, troubleText } from './trouble.js';
import { urgentTeller } from './urgent.js';

/** One object at the end, as the contract has it; where the call failed, as far as it got, with `error`. */
export function jsonReporter(
  history: History,
  paper: Paper,
  redactor: Redactor,
  supports: ReadonlySet<string>,
): Reporter {
  return {
    event: urgentTeller(history, paper),
    async end(ending: Ending) {
      const report = redactJson(safeJson(invokeReport(ending, supports), 2), redactor);
      await writeOut(paper.stdout, `${report}\n`);
      if (ending.trouble) paper.stderr.write(troubleText(ending.trouble));
    },
  };
}

/** The report as a value; undefined members are left out of the JSON. */
export function invokeReport(
  { history, exchange, notes, trouble }: Ending,
  supports: ReadonlySet<string>,
): Report {
  const panes = exchange ? panesOf(exchange, supports) : null;
  const warnings = [...notes, ...warningsOf(history, exchange), ...(panes?.warnings ?? [])];
  return {
    ...(exchange && callReport(history, exchange, panes)),
    warnings: counted(warnings),
    ...(trouble && { error: errorReport(trouble) }),
  };
}
