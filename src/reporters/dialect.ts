import type { DialectName } from '../dialects/dialect.js';
import { translate } from '../dialects/index.js';
import { answerOf } from '../exchange/answer.js';
import type { Exchange } from '../exchange/exchange.js';
import type { History } from '../exchange/history.js';
import type { Warning } from '../protocol/requirements.js';
import { counted, warningsOf } from '../story/warnings.js';
import { writeOut } from '../system/output.js';
import { safeJson } from '../text/json-safe.js';
import type { Redactor } from '../text/redact.js';
import { redactJson } from '../text/redact-json.js';
import type { Ending, Paper, Reporter } from './reporter.js';
import { troubleText, warningText } from './trouble.js';
import { urgentTeller } from './urgent.js';

/** One object at the end: the answer as another system has it, nothing where there is none. What got lost is told beside. */
export function dialectReporter(
  history: History,
  paper: Paper,
  redactor: Redactor,
  dialect: DialectName,
): Reporter {
  const { stdout, stderr, quiet } = paper;
  const told = new Set<string>();
  return {
    event: urgentTeller(history, paper, told),
    async end({ exchange, notes, trouble }: Ending) {
      const writing = writingOf(exchange, dialect);
      if (writing) await writeOut(stdout, `${redactJson(safeJson(writing.body, 2), redactor)}\n`);
      const lost: readonly Warning[] = writing?.losses ?? [];
      const warnings = [...notes, ...warningsOf(history, exchange), ...lost];
      const untold = warnings.filter(({ message }) => !told.has(message));
      if (!quiet) for (const warning of counted(untold)) stderr.write(warningText(warning));
      if (trouble) stderr.write(troubleText(trouble));
    },
  };
}

function writingOf(exchange: Exchange | undefined, dialect: DialectName) {
  const answer = exchange && answerOf(exchange);
  return answer ? translate(answer, dialect) : null;
}
