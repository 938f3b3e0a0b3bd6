import { writeOut } from '../../system/output.js';
import { safeJson } from '../../text/json-safe.js';
import type { Redactor } from '../../text/redact.js';
import { redactJson } from '../../text/redact-json.js';
import type { Paper } from '../reporter.js';
import { troubleText } from '../trouble.js';
import { urgentTeller } from '../urgent.js';
import { sessionReport } from './report.js';
import type { KnownSession, SessionReporter } from './reporter.js';

/** One object at the end; where it failed, as far as it got, with `error`. */
export function jsonSession(known: KnownSession, paper: Paper, redactor: Redactor): SessionReporter {
  return {
    event: urgentTeller(known.history, paper),
    async end(ending) {
      await writeOut(paper.stdout, `${redactJson(safeJson(sessionReport(ending), 2), redactor)}\n`);
      if (ending.trouble) paper.stderr.write(troubleText(ending.trouble));
    },
  };
}
