import type { Exchange } from '../../exchange/exchange.js';
import { History } from '../../exchange/history.js';
import { summaryOf } from '../../story/repeats/summary.js';
import { writeOut } from '../../system/output.js';
import { safeJson } from '../../text/json-safe.js';
import type { Redactor } from '../../text/redact.js';
import { redactJson } from '../../text/redact-json.js';
import { invokeReport } from '../json.js';
import type { RepeatsReport } from '../report-schema.js';
import type { Ending, Paper, Reporter } from '../reporter.js';
import { errorReport, troubleText } from '../trouble.js';
import { urgentTeller } from '../urgent.js';
import { ownHistory } from './own-history.js';
import { warningsOfAll } from './warnings.js';

const NO_HISTORY = new History();

/** Many calls as one object: `{calls: […], summary, warnings}`, each call as `invoke -o json` reports one. */
export function jsonRepeats(
  history: History,
  paper: Paper,
  redactor: Redactor,
  supports: ReadonlySet<string>,
): Reporter {
  const ended: Pick<Ending, 'exchange' | 'trouble'>[] = [];
  const { stdout, stderr } = paper;
  return {
    event: urgentTeller(history, paper),
    async settled(ending: Ending) {
      ended.push(ending);
    },
    async end({ notes, trouble }: Ending) {
      const calls = ended.map(({ exchange, trouble }) => {
        const own = exchange ? ownHistory(history, exchange) : NO_HISTORY;
        return invokeReport({ history: own, notes: [], exchange, trouble }, supports);
      });
      const exchanges = ended.flatMap(({ exchange }): Exchange[] => (exchange ? [exchange] : []));
      const report: RepeatsReport = {
        calls,
        summary: summaryOf(exchanges),
        warnings: [...notes, ...warningsOfAll(history)],
        ...(trouble && { error: errorReport(trouble) }),
      };
      await writeOut(stdout, `${redactJson(safeJson(report, 2), redactor)}\n`);
      if (trouble) stderr.write(troubleText(trouble));
    },
  };
}
