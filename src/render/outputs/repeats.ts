import type { Exchange } from '../../events/exchange.js';
import { History } from '../../events/history.js';
import { writeOut } from '../../system/streams.js';
import type { Redactor } from '../../util/redact.js';
import { redactJson, safeJson } from '../../util/redact-json.js';
import type { Line } from '../line.js';
import { callLine, summaryLines, summaryOf } from '../repeats.js';
import type { ColourLevel } from '../terminal/colour-level.js';
import { createTheme, dressLine } from '../terminal/theme.js';
import { invokeReport } from './call-report.js';
import { warningsOfAll } from './repeats/warnings.js';
import type { RepeatsReport } from './report-schema.js';
import type { Ending, Paper, Reporter } from './reporter.js';
import { Page } from './text.js';
import { errorReport, troubleText, warningText } from './trouble.js';
import { urgentTeller } from './urgent.js';

/** Of many calls, loaded as one. */

/** Many calls: a line for each as it ends, then what they came to. */
export function plainRepeats(
  history: History,
  paper: Paper,
  { level, redactor }: { readonly level: ColourLevel; readonly redactor: Redactor },
): Reporter {
  const theme = createTheme(level);
  const ended: Exchange[] = [];
  const page = new Page(paper.stdout);
  const write = (lines: readonly Line[]) => {
    page.write(redactor.text(lines.map(line => `${dressLine(line, theme)}\n`).join('')));
    return page.written();
  };
  const { stderr, quiet } = paper;
  return {
    event: urgentTeller(history, paper),
    async settled({ exchange, trouble }: Ending) {
      if (exchange) await write([callLine(ended.push(exchange), exchange, trouble)]);
    },
    async end({ notes, trouble }: Ending) {
      if (ended.length > 0) await write([[], ...summaryLines(summaryOf(ended))]);
      if (!quiet)
        for (const warning of [...notes, ...warningsOfAll(history)]) stderr.write(warningText(warning));
      if (trouble) stderr.write(troubleText(trouble));
    },
  };
}

/** Of a history of many calls what concerns one of them: its thread, and what was posted for its sake. */
export function ownHistory({ threads, errands }: History, exchange: Exchange): History {
  const { group_id } = exchange.invocation;
  const own = new History();
  own.exchanges.set(exchange.key, exchange);
  const thread = threads.get(group_id);
  if (thread) own.threads.set(group_id, thread);
  for (const errand of errands.ofCall(exchange.key)) own.errands.begin(errand);
  for (const errand of errands.ofThread(group_id)) own.errands.begin(errand);
  return own;
}

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
