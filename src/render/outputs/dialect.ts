import type { DialectName } from '../../dialects/dialect.js';
import { translate } from '../../dialects/dialects.js';
import { answerOf } from '../../events/answer.js';
import type { Exchange } from '../../events/exchange.js';
import type { History } from '../../events/history.js';
import type { Warning } from '../../protocol/requirements.js';
import { writeOut } from '../../system/streams.js';
import type { Redactor } from '../../util/redact.js';
import { redactJson, safeJson } from '../../util/redact.js';
import { cut } from '../../util/text.js';
import { counted, warningsOf } from '../warnings.js';
import type { Ending, Paper, Reporter } from './reporter.js';
import { troubleText, warningText } from './trouble.js';
import { urgentTeller } from './urgent.js';

/** One object at the end: the answer as another system has it, without an answer nothing. What is lost is a warning. */
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
      const lost: readonly Warning[] = writing?.warnings ?? [];
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

/** Characters of one message. */
const MOST = 64 * 1024;

const SIGNS = { sent: '>', received: '<' } as const;

/** `-v` on an MCP wire: each JSON-RPC message in a line, as it goes by; secrets out, foreign text safe. */
export function jsonRpcTeller(
  redactor: Redactor,
  write: (text: string) => unknown,
): (message: unknown, way: keyof typeof SIGNS) => void {
  return (message, way) => {
    const json = redactJson(safeJson(message), redactor);
    write(`${SIGNS[way]} ${cut(json, MOST)}\n`);
  };
}
